/** Converts the condition of a Query to the range of keys to read. */
import { refused, type AwsError } from '../../aws/awsError.ts';
import { typeOf, type Value } from '../values.ts';
import type { CallNode, Comparator, Condition, Operand } from './nodes.ts';
import type { Scope, Values } from './scope.ts';

export interface KeyShape {
  readonly partitionKey: string;
  readonly sortKey?: string | undefined;
  /** The types of the keys. If a type is undefined, keys of any type are accepted. */
  readonly partitionType?: KeyType | undefined;
  readonly sortType?: KeyType | undefined;
}

type KeyType = 'S' | 'N' | 'B';

type SortOperator = Exclude<Comparator, '<>'>;

type SortCondition =
  | { readonly op: SortOperator; readonly value: Value }
  | { readonly op: 'between'; readonly low: Value; readonly high: Value }
  | { readonly op: 'begins_with'; readonly prefix: Value };

export interface KeyRange {
  readonly partition: Value;
  readonly sort?: SortCondition;
}

interface Term {
  readonly name: string;
  readonly operator: SortOperator | 'BETWEEN' | 'begins_with';
  readonly slots: readonly number[];
}

type ReadRange = (values: Values, keys: KeyShape) => KeyRange;

const invalid = (message: string): AwsError =>
  refused(`Invalid condition in KeyConditionExpression: ${message}`);

/** Errors are thrown only when the range is read, because other expressions are checked first. */
export function compileKeyCondition(condition: Condition, scope: Scope): ReadRange {
  let terms: readonly Term[] | undefined;
  return (values, keys) => {
    terms ??= termsOf(condition, scope);
    return rangeOf(terms, values, keys);
  };
}

function termsOf(condition: Condition, scope: Scope): readonly Term[] {
  const terms = partsOf(condition).map((part) => termOf(part, scope));
  const keys = new Set(terms.map(({ name }) => name));
  if (keys.size < terms.length) {
    throw refused('KeyConditionExpressions must only contain one condition per key');
  }
  if (terms.length > 2) throw refused('Conditions can be of length 1 or 2 only');
  return terms;
}

type Comparison = Extract<Condition, { kind: 'comparison' | 'between' }>;
type Part = Comparison | CallNode;

/** Splits a condition at `AND`. */
function partsOf(condition: Condition): readonly Part[] {
  const wrong = (operator: string): AwsError =>
    refused(`Invalid operator used in KeyConditionExpression: ${operator}`);
  switch (condition.kind) {
    case 'and':
      return [...partsOf(condition.left), ...partsOf(condition.right)];
    case 'or':
      throw wrong('OR');
    case 'not':
      throw wrong('NOT');
    case 'in':
      throw wrong('IN');
    case 'comparison':
      if (condition.operator === '<>') throw wrong('<>');
      return [condition];
    case 'between':
      return [condition];
    case 'call':
      if (condition.name !== 'begins_with') throw wrong(condition.name);
      return [condition];
  }
}

function termOf(part: Part, scope: Scope): Term {
  if (part.kind === 'between') {
    return term('BETWEEN', [part.operand, part.low, part.high], scope);
  }
  if (part.kind === 'call') return term('begins_with', part.operands, scope);
  const { left, right, operator } = part;
  if (operator === '<>') throw refused('Invalid operator used in KeyConditionExpression: <>');
  return term(left.kind === 'value' ? turned[operator] : operator, [left, right], scope);
}

/** The comparator to use if the operands are swapped. */
const turned: Readonly<Record<SortOperator, SortOperator>> = {
  '=': '=',
  '<': '>',
  '<=': '>=',
  '>': '<',
  '>=': '<=',
};

function term(operator: Term['operator'], operands: readonly Operand[], scope: Scope): Term {
  const isComparison = operator !== 'BETWEEN' && operator !== 'begins_with';
  let name: string | undefined;
  const slots: number[] = [];
  for (const [index, operand] of operands.entries()) {
    if (operand.kind === 'path') {
      if (name !== undefined) throw invalid('Multiple attribute names used in one condition');
      const [first, ...others] = scope.steps(operand.path);
      if (others.length > 0) {
        throw refused('KeyConditionExpressions cannot have conditions on nested attributes');
      }
      name = String(first);
    } else if (operand.kind === 'value') {
      if (index === 0 && !isComparison) {
        throw invalid(`${operator} operator must have the key attribute as its first operand`);
      }
      slots.push(scope.slot(operand.name));
    } else throw refused('KeyConditionExpressions cannot contain nested operations');
  }
  if (name === undefined) throw invalid('No key attribute specified');
  return { name, operator, slots };
}

function rangeOf(terms: readonly Term[], values: Values, keys: KeyShape): KeyRange {
  const { partitionKey, sortKey } = keys;
  const partition = terms.find(({ name }) => name === partitionKey);
  if (partition === undefined) throw refused(`Query condition missed key schema element: ${partitionKey}`);
  const sort = terms.find((other) => other !== partition);
  if (sort !== undefined && sort.name !== sortKey) {
    throw refused(
      sortKey === undefined
        ? 'Query key condition not supported'
        : `Query condition missed key schema element: ${sortKey}`,
    );
  }
  if (partition.operator !== '=') throw refused('Query key condition not supported');
  const [equal] = valuesOf(partition, values, keys.partitionType);
  if (equal === undefined) throw refused('Query key condition not supported');
  if (sort === undefined) return { partition: equal };
  return { partition: equal, sort: sortOf(sort, valuesOf(sort, values, keys.sortType)) };
}

function sortOf({ operator }: Term, [first, second]: readonly Value[]): SortCondition {
  if (first === undefined) throw refused('Query key condition not supported');
  if (operator === 'begins_with') return { op: 'begins_with', prefix: first };
  if (operator !== 'BETWEEN') return { op: operator, value: first };
  if (second === undefined) throw refused('Query key condition not supported');
  return { op: 'between', low: first, high: second };
}

function valuesOf({ name, slots }: Term, values: Values, type: KeyType | undefined): readonly Value[] {
  const found: Value[] = [];
  for (const slot of slots) {
    const value = values[slot];
    if (value === undefined) continue;
    checkKey(name, value, type);
    found.push(value);
  }
  return found;
}

function checkKey(name: string, value: Value, type: KeyType | undefined): void {
  const actual = typeOf(value);
  if (type === undefined ? !('S' in value || 'N' in value || 'B' in value) : actual !== type) {
    throw refused(
      'One or more parameter values were invalid: Condition parameter type does not match schema type',
    );
  }
  const isEmpty = ('S' in value && value.S === '') || ('B' in value && value.B.length === 0);
  if (!isEmpty) return;
  const kind = actual === 'S' ? 'string' : 'binary';
  throw refused(
    `One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an empty ${kind} value. Key: ${name}`,
  );
}
