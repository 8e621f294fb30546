/** Binds the expressions of a call to its names and values. */
import { AwsError } from '../../aws/awsError.ts';
import { checkedValue, type Item, type Value } from '../values.ts';
import { checkCondition, checkProjection, checkUpdate } from './checks.ts';
import { compileCondition } from './condition.ts';
import { expressions, valuesFor, type Compiled, type Names } from './expression.ts';
import { compileKeyCondition, isInside, type KeyRange, type KeyShape } from './keyCondition.ts';
import type { Condition } from './nodes.ts';
import { parseCondition, parseProjection, parseUpdate } from './parse.ts';
import { pathTree, pick } from './paths.ts';
import type { ExpressionKind, Tokens } from './tokens.ts';
import { compileUpdate } from './update.ts';

export { isInside, type KeyRange, type KeyShape };

/** The expressions of a call, with the values of their placeholders. */
export interface Given {
  readonly ConditionExpression?: string | undefined;
  readonly FilterExpression?: string | undefined;
  readonly KeyConditionExpression?: string | undefined;
  readonly UpdateExpression?: string | undefined;
  readonly ProjectionExpression?: string | undefined;
  readonly ExpressionAttributeNames?: Names | undefined;
  readonly ExpressionAttributeValues?: Readonly<Record<string, unknown>> | undefined;
}

/** The functions of a call's expressions, if it has them. */
export interface Bound {
  /** Whether the condition is true for a row. A missing row is the empty item. */
  readonly condition?: (item: Item) => boolean;
  readonly filter?: (item: Item) => boolean;
  readonly keys?: KeyRange;
  /**
   * Returns the updated row, and leaves its argument unchanged.
   *
   * @param isNew whether the row does not exist; the item then has only key attributes
   * @throws AwsError if the update does not fit the row
   */
  readonly update?: (item: Item, isNew?: boolean) => Item;
  /** Whether the update only removes values, and so does not create a missing row. */
  readonly onlyRemoves?: boolean;
  /** The part of a row that the update touches. */
  readonly updated?: (item: Item) => Item;
  readonly projection?: (item: Item) => Item;
}

const conditions = expressions('ConditionExpression', conditionOf('ConditionExpression'), compileCondition);
const filters = expressions('FilterExpression', conditionOf('FilterExpression'), compileCondition);
const keyConditions = expressions(
  'KeyConditionExpression',
  conditionOf('KeyConditionExpression'),
  (condition, scope) => {
    compileCondition(condition, scope);
    return compileKeyCondition(condition, scope);
  },
);
const updates = expressions(
  'UpdateExpression',
  (tokens) => {
    const update = parseUpdate(tokens);
    checkUpdate(update);
    return update;
  },
  compileUpdate,
);
const projections = expressions(
  'ProjectionExpression',
  (tokens) => {
    const paths = parseProjection(tokens);
    checkProjection(paths);
    return paths;
  },
  (paths, scope) =>
    pathTree(
      paths.map((path) => ({ steps: scope.path(path), leaf: true })),
      (message) => scope.refused(message),
    ),
);

function conditionOf(kind: ExpressionKind): (tokens: Tokens) => Condition {
  return (tokens) => {
    const condition = parseCondition(tokens);
    checkCondition(kind, condition);
    return condition;
  };
}

const refused = (message: string): AwsError => new AwsError('ValidationException', message);

/**
 * @param keys of the table or index that a Query reads
 * @param primaryKey the key attributes of the table
 * @throws AwsError with DynamoDB's message
 */
export function bind(given: Given, keys: KeyShape, primaryKey: readonly string[]): Bound {
  const { ExpressionAttributeNames: names, ExpressionAttributeValues } = given;
  if (names === undefined && ExpressionAttributeValues === undefined && !hasExpression(given)) return {};
  checkGiven(given);
  const values = checkedValues(ExpressionAttributeValues);
  const used: Compiled<unknown>[] = [];
  const bound: { -readonly [Part in keyof Bound]: Bound[Part] } = {};

  const { FilterExpression, ProjectionExpression, UpdateExpression } = given;
  const { ConditionExpression, KeyConditionExpression } = given;
  if (FilterExpression !== undefined) {
    const compiled = filters(FilterExpression, names);
    const its = valuesFor('FilterExpression', compiled, values);
    used.push(compiled);
    bound.filter = (item) => compiled.run(item, its);
  }
  if (ProjectionExpression !== undefined) {
    const compiled = projections(ProjectionExpression, names);
    used.push(compiled);
    bound.projection = (item) => pick(item, compiled.run);
  }
  if (UpdateExpression !== undefined) {
    const compiled = updates(UpdateExpression, names);
    const its = valuesFor('UpdateExpression', compiled, values);
    used.push(compiled);
    const { change, tree, onlyRemoves } = compiled.run;
    bound.update = (item, isNew = false) => change(item, its, isNew);
    bound.onlyRemoves = onlyRemoves;
    bound.updated = (item) => pick(item, tree);
  }
  if (ConditionExpression !== undefined) {
    const compiled = conditions(ConditionExpression, names);
    const its = valuesFor('ConditionExpression', compiled, values);
    used.push(compiled);
    bound.condition = (item) => compiled.run(item, its);
  }
  const keyCondition =
    KeyConditionExpression === undefined ? undefined : keyConditions(KeyConditionExpression, names);
  const keyValues = keyCondition && valuesFor('KeyConditionExpression', keyCondition, values);
  checkUnused(names, values, keyCondition === undefined ? used : [...used, keyCondition]);
  checkScalars(used, primaryKey);
  if (keyCondition !== undefined && keyValues !== undefined) {
    bound.keys = keyCondition.run(keyValues, keys);
    if (FilterExpression !== undefined) checkFilter(filters(FilterExpression, names), keys);
  }
  if (UpdateExpression !== undefined) checkTargets(updates(UpdateExpression, names), primaryKey);
  return bound;
}

const hasExpression = (given: Given): boolean =>
  given.ConditionExpression !== undefined ||
  given.FilterExpression !== undefined ||
  given.KeyConditionExpression !== undefined ||
  given.UpdateExpression !== undefined ||
  given.ProjectionExpression !== undefined;

function checkGiven(given: Given): void {
  for (const name of ['ExpressionAttributeNames', 'ExpressionAttributeValues'] as const) {
    const placeholders = given[name];
    if (placeholders === undefined) continue;
    if (!hasExpression(given)) throw refused(`${name} can only be specified when using expressions`);
    if (Object.keys(placeholders).length === 0) throw refused(`${name} must not be empty`);
  }
}

function checkedValues(given: Given['ExpressionAttributeValues']): ReadonlyMap<string, Value> {
  const values = new Map<string, Value>();
  if (given === undefined) return values;
  for (const placeholder of Object.keys(given)) {
    try {
      values.set(placeholder, checkedValue(given[placeholder]));
    } catch (error) {
      if (!(error instanceof AwsError) || error.code !== 'ValidationException') throw error;
      throw refused(
        `ExpressionAttributeValues contains invalid value: ${error.message} for key ${placeholder}`,
      );
    }
  }
  return values;
}

function checkUnused(
  names: Names | undefined,
  values: ReadonlyMap<string, Value>,
  used: readonly Compiled<unknown>[],
): void {
  if (names !== undefined) {
    const unused = Object.keys(names).filter((name) => !used.some(({ nameOf }) => nameOf.has(name)));
    checkNone('ExpressionAttributeNames', '#', unused);
  }
  if (values.size === 0) return;
  const unused = [...values.keys()].filter((name) => !used.some(({ valueOf }) => valueOf.has(name)));
  checkNone('ExpressionAttributeValues', ':', unused);
}

function checkNone(member: string, sign: '#' | ':', unused: readonly string[]): void {
  if (unused.length === 0) return;
  const wrong = unused.find((key) => !(key.startsWith(sign) && /^\w+$/.test(key.slice(1))));
  if (wrong !== undefined) throw refused(`${member} contains invalid key: Syntax error; key: "${wrong}"`);
  throw refused(`Value provided in ${member} unused in expressions: keys: {${unused.join(', ')}}`);
}

/** Key attributes are texts, numbers or bytes, so no path can lead into them. */
function checkScalars(used: readonly Compiled<unknown>[], primaryKey: readonly string[]): void {
  for (const { paths } of used) {
    for (const [name, ...others] of paths) {
      if (others.length > 0 && primaryKey.some((key) => key === name)) {
        throw refused(
          `Key attributes must be scalars; list random access '[]' and map lookup '.' are not allowed: Key: ${name}`,
        );
      }
    }
  }
}

/** A Query's filter must not use key attributes. They belong in its key condition. */
function checkFilter({ paths }: Compiled<unknown>, { partitionKey, sortKey }: KeyShape): void {
  const path = paths.find(([name]) => name === partitionKey || name === sortKey);
  if (path === undefined) return;
  throw refused(
    `Filter Expression can only contain non-primary key attributes: Primary key attribute: ${path[0]}`,
  );
}

function checkTargets({ run }: ReturnType<typeof updates>, primaryKey: readonly string[]): void {
  const key = primaryKey.find((name) => run.tree.fields.has(name));
  if (key === undefined) return;
  throw refused(
    `One or more parameter values were invalid: Cannot update attribute ${key}. This attribute is part of the key`,
  );
}
