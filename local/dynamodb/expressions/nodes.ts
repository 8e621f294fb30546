/**
 * A path as it is written: names, placeholders of names, and list indexes. Only placeholders begin with `#`.
 */
export type Path = readonly (string | number)[];

interface PathNode {
  readonly kind: 'path';
  readonly path: Path;
}

/** A placeholder of a value, such as `:now`. */
interface ValueNode {
  readonly kind: 'value';
  readonly name: string;
}

export interface CallNode {
  readonly kind: 'call';
  readonly name: string;
  readonly operands: readonly Operand[];
}

/** A sum or difference in an update: `a + b` or `a - b`. */
interface SumNode {
  readonly kind: 'sum';
  readonly operator: '+' | '-';
  readonly left: Operand;
  readonly right: Operand;
}

export type Operand = PathNode | ValueNode | CallNode | SumNode;

export type Comparator = '=' | '<>' | '<' | '<=' | '>' | '>=';

export type Condition =
  | { readonly kind: 'and' | 'or'; readonly left: Condition; readonly right: Condition }
  | { readonly kind: 'not'; readonly condition: Condition }
  | {
      readonly kind: 'comparison';
      readonly operator: Comparator;
      readonly left: Operand;
      readonly right: Operand;
    }
  | { readonly kind: 'between'; readonly operand: Operand; readonly low: Operand; readonly high: Operand }
  | { readonly kind: 'in'; readonly operand: Operand; readonly list: readonly Operand[] }
  | CallNode;

export type Section = 'SET' | 'REMOVE' | 'ADD' | 'DELETE';

export type Action =
  | { readonly section: 'SET'; readonly path: Path; readonly value: Operand }
  | { readonly section: 'REMOVE'; readonly path: Path }
  | { readonly section: 'ADD' | 'DELETE'; readonly path: Path; readonly value: ValueNode };
