import { unmarshall } from '@aws-sdk/util-dynamodb';
import type { Key, Row } from '../aws/dynamodb.ts';

/**
 * An item of a long list. Most are passed over after one or two attributes: reading all attributes would take
 * far longer than DynamoDB does.
 */
export class ListedItem {
  readonly #item: Key;
  #row: Row | undefined;

  constructor(item: Key) {
    this.#item = item;
  }

  /** All attributes. */
  get row(): Row {
    this.#row ??= unmarshall(this.#item);
    return this.#row;
  }

  has(name: string): boolean {
    return name in this.#item;
  }

  /** Reads a few attributes. */
  only(names: readonly string[]): Row {
    const some: Key = {};
    for (const name of names) {
      const value = this.#item[name];
      if (value !== undefined) some[name] = value;
    }
    return unmarshall(some);
  }

  /** Reads the texts of an attribute that is one, or a list of them. */
  textsOf(name: string): readonly string[] {
    const value = this.#item[name];
    return (value?.L ?? [value]).flatMap((one) => one?.S ?? []);
  }
}
