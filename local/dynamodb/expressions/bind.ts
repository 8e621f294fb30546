/** Combines the expressions of a call with its names and values. */
import { AwsError, refused } from '../../aws/awsError.ts';
import { checkedValue, invalid, type Item, type Value } from '../values.ts';
import { compileCondition } from './condition.ts';
import { expressions, valuesFor, type Compile, type Compiled, type Given, type Names } from './expression.ts';
import { compileKeyCondition, type KeyRange, type KeyShape } from './keyCondition.ts';
import { parseCondition, parseProjection, parseUpdate } from './parse.ts';
import { pathTree, pick } from './paths.ts';
import { compileUpdate, type CompiledUpdate } from './update.ts';

export type { Given, KeyRange, KeyShape };

/** The functions of a call's expressions, if it has them. */
export interface Bound {
  /** Whether the condition holds for a row. A missing row is the empty item. */
  readonly condition?: ((item: Item) => boolean) | undefined;
  readonly filter?: ((item: Item) => boolean) | undefined;
  readonly keys?: KeyRange | undefined;
  /**
   * Returns the updated row, and leaves its argument unchanged.
   *
   * @param isNew whether the row does not exist; the item then has only key attributes
   * @throws AwsError if the update does not fit the row
   */
  readonly update?: ((item: Item, isNew?: boolean) => Item) | undefined;
  /** Whether the update only removes values. Then it does not create a missing row. */
  readonly onlyRemoves?: boolean | undefined;
  /** Returns the part of a row that the update changes. */
  readonly updated?: ((item: Item) => Item) | undefined;
  readonly projection?: ((item: Item) => Item) | undefined;
}

const conditions = expressions('ConditionExpression', parseCondition, compileCondition);
const filters = expressions('FilterExpression', parseCondition, compileCondition);
const keyConditions = expressions('KeyConditionExpression', parseCondition, (condition, scope) => {
  compileCondition(condition, scope);
  return compileKeyCondition(condition, scope);
});
const updates = expressions('UpdateExpression', parseUpdate, compileUpdate);
const projections = expressions('ProjectionExpression', parseProjection, (paths, scope) =>
  pathTree(
    paths.map((path) => ({ steps: scope.path(path), leaf: true })),
    (message) => scope.refused(message),
  ),
);

/**
 * @param keys of the table or index that a Query reads
 * @param primaryKey the key attributes of the table
 * @throws AwsError with DynamoDB's message
 */
export function bind(given: Given, keys: KeyShape, primaryKey: readonly string[]): Bound {
  const { ExpressionAttributeNames: names, ExpressionAttributeValues } = given;
  if (names === undefined && ExpressionAttributeValues === undefined && !hasExpression(given)) return {};
  checkGiven(given);
  const call: Call = { names, values: checkedValues(ExpressionAttributeValues), used: [] };
  const filter = use(filters, given.FilterExpression, call);
  const projection = use(projections, given.ProjectionExpression, call);
  const update = use(updates, given.UpdateExpression, call);
  const condition = use(conditions, given.ConditionExpression, call);
  const keyCondition = use(keyConditions, given.KeyConditionExpression, call);
  checkUnused(call);
  checkScalars(call, primaryKey);
  const range = keyCondition?.run(keyCondition.values, keys);
  if (range !== undefined && filter !== undefined) checkFilter(filter.paths, keys);
  if (update !== undefined) checkTargets(update.run, primaryKey);
  return {
    condition: condition && ((item) => condition.run(item, condition.values)),
    filter: filter && ((item) => filter.run(item, filter.values)),
    keys: range,
    update: update && ((item, isNew = false) => update.run.change(item, update.values, isNew)),
    onlyRemoves: update?.run.onlyRemoves,
    updated: update && ((item) => pick(item, update.run.tree)),
    projection: projection && ((item) => pick(item, projection.run)),
  };
}

interface Call {
  readonly names: Names | undefined;
  readonly values: ReadonlyMap<string, Value>;
  /** The expressions of the call. */
  readonly used: Compiled<unknown>[];
}

function use<Run>(compile: Compile<Run>, text: string | undefined, { names, values, used }: Call) {
  if (text === undefined) return undefined;
  const compiled = compile(text, names);
  used.push(compiled);
  return { run: compiled.run, paths: compiled.paths, values: valuesFor(compiled, values) };
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

function checkUnused({ names, values, used }: Call): void {
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

/** Key attributes are texts, numbers or bytes, so they have no inner paths. */
function checkScalars({ used }: Call, primaryKey: readonly string[]): void {
  for (const { kind, paths } of used) {
    if (kind === 'KeyConditionExpression') continue;
    for (const [name, ...others] of paths) {
      if (others.length > 0 && primaryKey.some((key) => key === name)) {
        throw refused(
          `Key attributes must be scalars; list random access '[]' and map lookup '.' are not allowed: Key: ${name}`,
        );
      }
    }
  }
}

/** The filter of a Query must not use key attributes. */
function checkFilter(paths: Compiled<unknown>['paths'], { partitionKey, sortKey }: KeyShape): void {
  const path = paths.find(([name]) => name === partitionKey || name === sortKey);
  if (path === undefined) return;
  throw refused(
    `Filter Expression can only contain non-primary key attributes: Primary key attribute: ${path[0]}`,
  );
}

function checkTargets({ tree }: CompiledUpdate, primaryKey: readonly string[]): void {
  const key = primaryKey.find((name) => tree.fields.has(name));
  if (key === undefined) return;
  throw invalid(`Cannot update attribute ${key}. This attribute is part of the key`);
}
