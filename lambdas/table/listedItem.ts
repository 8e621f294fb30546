import { unmarshall } from '@aws-sdk/util-dynamodb';
import type { Key, Row } from '../aws/dynamodb.ts';

/**
 * An item of a long list. Most items are skipped after one or two attributes were read, because parsing all
 * takes far longer than DynamoDB's read.
 */
export class ListedItem {
  readonly #item: Key;
  #row: Row | undefined;

  constructor(item: Key) {
    this.#item = item;
  }

  get row(): Row {
    this.#row ??= unmarshall(this.#item);
    return this.#row;
  }

  has(name: string): boolean {
    return name in this.#item;
  }

  only(names: readonly string[]): Row {
    const some: Key = {};
    for (const name of names) {
      const value = this.#item[name];
      if (value !== undefined) some[name] = value;
    }
    return unmarshall(some);
  }

  /** The texts of an attribute, which has one or a list. */
  textsOf(name: string): readonly string[] {
    const value = this.#item[name];
    return (value?.L ?? [value]).flatMap((one) => one?.S ?? []);
  }
}
