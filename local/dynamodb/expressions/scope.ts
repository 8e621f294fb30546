/** The names and values with which an expression is compiled. */
import { typeOf, type Item, type TypeName, type Value } from '../values.ts';
import type { Operand, Path } from './nodes.ts';
import type { Steps } from './paths.ts';
import { refusedExpression, type ExpressionKind } from './tokens.ts';

/** The values of an expression's placeholders, in the order of their first use. */
export type Values = readonly Value[];

export type Read = (item: Item, values: Values) => Value | undefined;

/** Checks the values of a call. @throws AwsError if they do not fit the expression */
export type Check = (values: Values) => void;

/** The names for compiling one expression. Collects the paths and checks of the expression. */
export class Scope {
  readonly kind: ExpressionKind;
  readonly checks: Check[] = [];
  readonly paths: Steps[] = [];
  readonly #names: ReadonlyMap<string, string>;
  readonly #slots: ReadonlyMap<string, number>;

  /**
   * @param names the names of the placeholders
   * @param values the placeholders of values
   */
  constructor(kind: ExpressionKind, names: ReadonlyMap<string, string>, values: readonly string[]) {
    this.kind = kind;
    this.#names = names;
    this.#slots = new Map(values.map((name, slot) => [name, slot]));
  }

  steps(path: Path): Steps {
    return path.map((step) => (typeof step === 'string' ? (this.#names.get(step) ?? step) : step));
  }

  /** Like {@link steps}, and collects the path. */
  path(path: Path): Steps {
    const steps = this.steps(path);
    this.paths.push(steps);
    return steps;
  }

  /** The position of a placeholder's value in the list of a call's values. */
  slot(placeholder: string): number {
    return this.#slots.get(placeholder) ?? -1;
  }

  typeOf(operand: Operand, values: Values): TypeName | undefined {
    if (operand.kind === 'call') return operand.name === 'size' ? 'N' : undefined;
    const value = operand.kind === 'value' ? values[this.slot(operand.name)] : undefined;
    return value && typeOf(value);
  }

  /** Adds a check of the types of operands, as far as they are known. */
  checkTypes(name: string, operands: readonly Operand[], types: readonly TypeName[]): void {
    for (const operand of operands) {
      if (operand.kind === 'path') continue;
      this.checks.push((values) => {
        const type = this.typeOf(operand, values);
        if (type !== undefined && !types.includes(type)) throw this.wrongType(name, type);
      });
    }
  }

  wrongType(name: string, type: string): Error {
    return this.refused(
      `Incorrect operand type for operator or function; operator or function: ${name}, operand type: ${type}`,
    );
  }

  refused(message: string): Error {
    return refusedExpression(this.kind, message);
  }
}
