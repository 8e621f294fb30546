/** Compiles conditions, including filters and key conditions. */
import {
  areEqual,
  compareValues,
  isTypeName,
  membersOf,
  textOfBytes,
  typeOf,
  attributeOf,
  type Item,
  type TypeName,
  type Value,
} from '../values.ts';
import type { CallNode, Comparator, Condition, Operand } from './nodes.ts';
import { areSamePaths, pathText, valueAt } from './paths.ts';
import type { Read, Scope, Values } from './scope.ts';

type Test = (item: Item, values: Values) => boolean;

const ordered: readonly TypeName[] = ['S', 'N', 'B'];

/** @throws AwsError if the expression is invalid with the names of the scope */
export function compileCondition(condition: Condition, scope: Scope): Test {
  switch (condition.kind) {
    case 'and':
    case 'or': {
      const left = compileCondition(condition.left, scope);
      const right = compileCondition(condition.right, scope);
      return condition.kind === 'and'
        ? (item, values) => left(item, values) && right(item, values)
        : (item, values) => left(item, values) || right(item, values);
    }
    case 'not': {
      const test = compileCondition(condition.condition, scope);
      return (item, values) => !test(item, values);
    }
    case 'comparison':
      return comparison(condition, scope);
    case 'between':
      return between(condition, scope);
    case 'in':
      return among(condition, scope);
    case 'call':
      return predicate(condition, scope);
  }
}

function comparison(
  { operator, left, right }: Extract<Condition, { kind: 'comparison' }>,
  scope: Scope,
): Test {
  const [one, other] = [compileRead(left, scope), compileRead(right, scope)];
  checkDistinct(operator, left, [right], scope);
  if (operator !== '=' && operator !== '<>') scope.checkTypes(operator, [left, right], ordered);
  const holds = comparisons[operator];
  return (item, values) => holds(one(item, values), other(item, values));
}

type Holds = (a: Value | undefined, b: Value | undefined) => boolean;

const equal: Holds = (a, b) => a !== undefined && b !== undefined && areEqual(a, b);

/** Compares two values by order. False if their types differ or one is missing. */
const byOrder =
  (holds: (order: number) => boolean): Holds =>
  (a, b) => {
    const order = a && b && compareValues(a, b);
    return order !== undefined && holds(order);
  };

const atMost = byOrder((order) => order <= 0);

const comparisons: Readonly<Record<Comparator, Holds>> = {
  '=': equal,
  '<>': (a, b) => !equal(a, b),
  '<': byOrder((order) => order < 0),
  '<=': atMost,
  '>': byOrder((order) => order > 0),
  '>=': byOrder((order) => order >= 0),
};

function between({ operand, low, high }: Extract<Condition, { kind: 'between' }>, scope: Scope): Test {
  const [read, readLow, readHigh] = [
    compileRead(operand, scope),
    compileRead(low, scope),
    compileRead(high, scope),
  ];
  checkDistinct('BETWEEN', operand, [low, high], scope);
  scope.checkTypes('BETWEEN', [operand, low, high], ordered);
  if (low.kind === 'value' && high.kind === 'value') {
    const [lowSlot, highSlot] = [scope.slot(low.name), scope.slot(high.name)];
    scope.checks.push((values) => {
      const [from, to] = [values[lowSlot], values[highSlot]];
      if (from !== undefined && to !== undefined) checkBounds(from, to, scope);
    });
  }
  return (item, values) => {
    const value = read(item, values);
    return atMost(readLow(item, values), value) && atMost(value, readHigh(item, values));
  };
}

function checkBounds(low: Value, high: Value, scope: Scope): void {
  const bounds = `lower bound operand: AttributeValue: ${boundText(low)}, upper bound operand: AttributeValue: ${boundText(high)}`;
  const order = compareValues(low, high);
  if (order === undefined) {
    throw scope.refused(`The BETWEEN operator requires same data type for lower and upper bounds; ${bounds}`);
  }
  if (order > 0) {
    throw scope.refused(
      `The BETWEEN operator requires upper bound to be greater than or equal to lower bound; ${bounds}`,
    );
  }
}

function boundText(value: Value): string {
  if ('S' in value) return `{S:${value.S}}`;
  if ('N' in value) return `{N:${value.N}}`;
  const length = 'B' in value ? value.B.length : 0;
  return `{${typeOf(value)}:java.nio.HeapByteBuffer[pos=0 lim=${length} cap=${length}]}`;
}

function among({ operand, list }: Extract<Condition, { kind: 'in' }>, scope: Scope): Test {
  const read = compileRead(operand, scope);
  const others = list.map((one) => compileRead(one, scope));
  checkDistinct('IN', operand, list, scope);
  return (item, values) => {
    const value = read(item, values);
    return value !== undefined && others.some((other) => equal(value, other(item, values)));
  };
}

function checkDistinct(operator: string, first: Operand, others: readonly Operand[], scope: Scope): void {
  if (first.kind !== 'path') return;
  const steps = scope.steps(first.path);
  for (const other of others) {
    if (other.kind === 'path' && areSamePaths(steps, scope.steps(other.path))) {
      throw scope.refused(
        `The first operand must be distinct from the remaining operands for this operator or function; operator: ${operator}, first operand: ${pathText(steps)}`,
      );
    }
  }
}

function predicate(call: CallNode, scope: Scope): Test {
  const { name, operands } = call;
  const [first, second] = operands;
  if (first === undefined) throw scope.refused(`Invalid function name; function: ${name}`);
  const read = compileRead(first, scope);
  const needsPath =
    name === 'attribute_exists' || name === 'attribute_not_exists' || name === 'attribute_type';
  if (needsPath && first.kind !== 'path') {
    throw scope.refused(`Operator or function requires a document path; operator or function: ${name}`);
  }
  if (name === 'attribute_exists') return (item, values) => read(item, values) !== undefined;
  if (name === 'attribute_not_exists') return (item, values) => read(item, values) === undefined;
  const readSecond = second === undefined ? read : compileRead(second, scope);
  if (second !== undefined) checkDistinct(name, first, [second], scope);
  if (name === 'begins_with') scope.checkTypes(name, operands, ['S', 'B']);
  if (name === 'attribute_type' && second !== undefined) checkTypeName(second, scope);
  const holds = name === 'begins_with' ? beginsWith : name === 'contains' ? contains : hasType;
  return (item, values) => {
    const [a, b] = [read(item, values), readSecond(item, values)];
    return a !== undefined && b !== undefined && holds(a, b);
  };
}

function checkTypeName(operand: Operand, scope: Scope): void {
  scope.checks.push((values) => {
    const type = scope.typeOf(operand, values);
    if (type !== 'S') throw scope.wrongType('attribute_type', type ?? '{NS,SS,L,BS,N,M,B,BOOL,NULL,S}');
    const value = operand.kind === 'value' ? values[scope.slot(operand.name)] : undefined;
    if (value !== undefined && 'S' in value && !isTypeName(value.S)) {
      throw scope.refused(
        `Invalid attribute type name found; type: ${value.S}, valid types: {B,NULL,SS,BOOL,L,BS,N,NS,S,M}`,
      );
    }
  });
}

const hasType = (value: Value, type: Value): boolean => 'S' in type && typeOf(value) === type.S;

function beginsWith(value: Value, prefix: Value): boolean {
  if ('S' in value) return 'S' in prefix && value.S.startsWith(prefix.S);
  if (!('B' in value && 'B' in prefix)) return false;
  return Buffer.compare(value.B.subarray(0, prefix.B.length), prefix.B) === 0;
}

function contains(value: Value, part: Value): boolean {
  if ('S' in value) return 'S' in part && value.S.includes(part.S);
  if ('B' in value) return 'B' in part && textOfBytes(value.B).includes(textOfBytes(part.B));
  if ('L' in value) return value.L.some((element) => areEqual(element, part));
  if ('SS' in value) return 'S' in part && value.SS.includes(part.S);
  if ('NS' in value) return 'N' in part && value.NS.includes(part.N);
  return 'BS' in value && 'B' in part && membersOf(value).has(textOfBytes(part.B));
}

function compileRead(operand: Operand, scope: Scope): Read {
  if (operand.kind === 'path') return readPath(operand.path, scope);
  if (operand.kind === 'value') return readValue(operand.name, scope);
  const first = operand.kind === 'call' ? operand.operands[0] : undefined;
  if (first === undefined) throw new TypeError('Conditions have no sums, and functions have operands.');
  const read = compileRead(first, scope);
  scope.checkTypes('size', [first], ['S', 'B', 'SS', 'NS', 'BS', 'L', 'M']);
  return (item, values) => {
    const value = read(item, values);
    return value && sizeOf(value);
  };
}

export function readPath(path: Parameters<Scope['path']>[0], scope: Scope): Read {
  const steps = scope.path(path);
  const [name] = steps;
  if (steps.length === 1 && typeof name === 'string') return (item) => attributeOf(item, name);
  return (item) => valueAt(item, steps);
}

export function readValue(placeholder: string, scope: Scope): Read {
  const slot = scope.slot(placeholder);
  return (_item, values) => values[slot];
}

/** The result of `size`; undefined for types that have no size. */
function sizeOf(value: Value): Value | undefined {
  if ('S' in value) return { N: String(value.S.length) };
  if ('B' in value) return { N: String(value.B.length) };
  if ('L' in value) return { N: String(value.L.length) };
  if ('M' in value) return { N: String(Object.keys(value.M).length) };
  if ('SS' in value) return { N: String(value.SS.length) };
  if ('NS' in value) return { N: String(value.NS.length) };
  return 'BS' in value ? { N: String(value.BS.length) } : undefined;
}
