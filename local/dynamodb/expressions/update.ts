import { refused, type AwsError } from '../../aws/awsError.ts';
import { addNumbers } from '../numbers.ts';
import {
  attributeOf,
  checkedValue,
  setAttribute,
  textOfBytes,
  typeOf,
  type Item,
  type TypeName,
  type Value,
} from '../values.ts';
import { readPath, readValue } from './condition.ts';
import type { Action, CallNode, Operand } from './nodes.ts';
import { pathTree, type PathTree } from './paths.ts';
import type { Read, Scope, Values } from './scope.ts';

type Change = (item: Item, values: Values, isNew: boolean) => Item;

/**
 * Returns the new value at a path; undefined to remove it.
 *
 * @param current the value at the path before
 * @param item the item before the update
 */
type Leaf = (current: Value | undefined, item: Item, values: Values) => Value | undefined;

const wrongData = (): AwsError => refused('An operand in the update expression has an incorrect data type');
const wrongPath = (): AwsError =>
  refused('The document path provided in the update expression is invalid for update');

export interface CompiledUpdate {
  readonly change: Change;
  readonly tree: PathTree<Leaf>;
  readonly onlyRemoves: boolean;
}

/** @throws AwsError if the expression is invalid with the scope's names */
export function compileUpdate(actions: readonly Action[], scope: Scope): CompiledUpdate {
  const targets = actions.map((action) => scope.steps(action.path));
  // Checks that no two paths overlap.
  pathTree(
    targets.map((steps) => ({ steps, leaf: undefined })),
    (message) => scope.refused(message),
  );
  const tree = pathTree(
    actions.map((action, index) => ({ steps: targets[index] ?? [], leaf: leafOf(action, scope) })),
    (message) => scope.refused(message),
  );
  const treeOfNew = withoutNestedRemovals(tree);
  return {
    tree,
    onlyRemoves: actions.every(({ section }) => section === 'REMOVE' || section === 'DELETE'),
    change: (item, values, isNew) => changedMap(item, isNew ? treeOfNew : tree, item, values),
  };
}

const removed: Leaf = () => undefined;

/**
 * If there is no row, removals inside of an attribute are ignored. If a row lacks the attribute, they are
 * refused.
 */
function withoutNestedRemovals(tree: PathTree<Leaf>): PathTree<Leaf> {
  const fields = [...tree.fields].filter(([, below]) => below.leaf !== undefined || !onlyRemoves(below));
  return { ...tree, fields: new Map(fields) };
}

const onlyRemoves = ({ leaf, fields, elements }: PathTree<Leaf>): boolean =>
  leaf === undefined ? [...fields.values(), ...elements.values()].every(onlyRemoves) : leaf === removed;

function changedMap(map: Item, tree: PathTree<Leaf>, item: Item, values: Values): Item {
  const changed: Record<string, Value> = { ...map };
  for (const [name, below] of tree.fields) {
    const value = changedValue(attributeOf(map, name), below, item, values);
    if (value === undefined) Reflect.deleteProperty(changed, name);
    else setAttribute(changed, name, value);
  }
  return changed;
}

function changedValue(
  value: Value | undefined,
  tree: PathTree<Leaf>,
  item: Item,
  values: Values,
): Value | undefined {
  if (tree.leaf !== undefined) return tree.leaf(value, item, values);
  if (value === undefined) throw wrongPath();
  if (tree.fields.size > 0) {
    if (!('M' in value)) throw wrongPath();
    return { M: changedMap(value.M, tree, item, values) };
  }
  if (!('L' in value)) throw wrongPath();
  return { L: changedList(value.L, tree, item, values) };
}

/** Indexes are those of the list before the update. A value after the end is appended. */
function changedList(
  list: readonly Value[],
  tree: PathTree<Leaf>,
  item: Item,
  values: Values,
): readonly Value[] {
  const changed: (Value | undefined)[] = [...list];
  for (const [index, below] of tree.elements) {
    const value = changedValue(list[index], below, item, values);
    if (index < list.length) changed[index] = value;
    else changed.push(value);
  }
  return changed.filter((value) => value !== undefined);
}

function leafOf(action: Action, scope: Scope): Leaf {
  if (action.section === 'REMOVE') return removed;
  if (action.section === 'SET') {
    const read = compileOperand(action.value, scope);
    const depth = action.path.length - 1;
    if (depth === 0) return (_current, item, values) => needed(read(item, values));
    // Checked again, because the value is nested deeper here.
    return (_current, item, values) => checkedValue(needed(read(item, values)), depth);
  }
  const { section, value } = action;
  const slot = scope.slot(value.name);
  const types = operandTypes[section];
  scope.checks.push((given) => {
    const type = scope.typeOf(value, given);
    if (type === undefined || types.includes(type)) return;
    throw scope.refused(
      `Incorrect operand type for operator or function; operator: ${section}, operand type: ${longNames[type]}, typeSet: ALLOWED_FOR_${section}_OPERAND`,
    );
  });
  const change = section === 'ADD' ? added : without;
  return (current, _item, values) => change(current, needed(values[slot]));
}

const operandTypes: Readonly<Record<'ADD' | 'DELETE', readonly TypeName[]>> = {
  ADD: ['N', 'SS', 'NS', 'BS'],
  DELETE: ['SS', 'NS', 'BS'],
};

const longNames: Readonly<Record<TypeName, string>> = {
  S: 'STRING',
  N: 'NUMBER',
  B: 'BINARY',
  BOOL: 'BOOLEAN',
  NULL: 'NULL',
  L: 'LIST',
  M: 'MAP',
  SS: 'STRING_SET',
  NS: 'NUMBER_SET',
  BS: 'BINARY_SET',
};

function needed(value: Value | undefined): Value {
  if (value !== undefined) return value;
  throw refused('The provided expression refers to an attribute that does not exist in the item');
}

function compileOperand(operand: Operand, scope: Scope): Read {
  switch (operand.kind) {
    case 'path':
      return readPath(operand.path, scope);
    case 'value':
      return readValue(operand.name, scope);
    case 'call':
      return operand.name === 'if_not_exists' ? ifNotExists(operand, scope) : listAppend(operand, scope);
    case 'sum': {
      const { operator, left, right } = operand;
      const [one, other] = [compileOperand(left, scope), compileOperand(right, scope)];
      scope.checkTypes(operator, [left, right], ['N']);
      const sign = operator === '+' ? 1 : -1;
      return (item, values) => {
        const [a, b] = [needed(one(item, values)), needed(other(item, values))];
        if ('N' in a && 'N' in b) return { N: addNumbers(a.N, b.N, sign) };
        throw wrongData();
      };
    }
  }
}

function ifNotExists({ name, operands }: CallNode, scope: Scope): Read {
  const [first, second] = operands;
  if (first?.kind !== 'path' || second === undefined) {
    throw scope.refused(`Operator or function requires a document path; operator or function: ${name}`);
  }
  const [read, otherwise] = [compileOperand(first, scope), compileOperand(second, scope)];
  return (item, values) => read(item, values) ?? otherwise(item, values);
}

function listAppend({ name, operands }: CallNode, scope: Scope): Read {
  const reads = operands.map((operand) => compileOperand(operand, scope));
  scope.checkTypes(name, operands, ['L']);
  return (item, values) => {
    const lists = reads.map((read) => needed(read(item, values)));
    return {
      L: lists.flatMap((list) => {
        if ('L' in list) return list.L;
        throw wrongData();
      }),
    };
  };
}

/** `ADD`: the sum of numbers, or the union of sets. */
function added(current: Value | undefined, value: Value): Value {
  if (current === undefined) return value;
  if ('N' in current && 'N' in value) return { N: addNumbers(current.N, value.N, 1) };
  if ('SS' in current && 'SS' in value) return { SS: [...new Set([...current.SS, ...value.SS])] };
  if ('NS' in current && 'NS' in value) return { NS: [...new Set([...current.NS, ...value.NS])] };
  if (!('BS' in current && 'BS' in value)) throw wrongData();
  const members = new Set(current.BS.map(textOfBytes));
  return { BS: [...current.BS, ...value.BS.filter((bytes) => !members.has(textOfBytes(bytes)))] };
}

/** `DELETE`: the difference of sets. If it is empty, the attribute is removed. */
function without(current: Value | undefined, value: Value): Value | undefined {
  if (current === undefined) return undefined;
  if (typeOf(current) !== typeOf(value)) throw wrongData();
  if ('SS' in current && 'SS' in value) {
    const SS = current.SS.filter((member) => !value.SS.includes(member));
    return SS.length === 0 ? undefined : { SS };
  }
  if ('NS' in current && 'NS' in value) {
    const NS = current.NS.filter((member) => !value.NS.includes(member));
    return NS.length === 0 ? undefined : { NS };
  }
  if (!('BS' in current && 'BS' in value)) throw wrongData();
  const members = new Set(value.BS.map(textOfBytes));
  const BS = current.BS.filter((bytes) => !members.has(textOfBytes(bytes)));
  return BS.length === 0 ? undefined : { BS };
}
