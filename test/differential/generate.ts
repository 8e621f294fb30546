/** Generated calls of the table `workflows`: items, expressions and values. */
import { createHash } from 'node:crypto';
import fc, { type Arbitrary } from 'fast-check';
import type { Value } from '../../local/dynamodb/values.ts';
import { toJson } from './databases.ts';

export interface Call {
  readonly operation: string;
  readonly input: Readonly<Record<string, unknown>>;
}

/** Few names, texts and numbers, so that expressions match items. */
const attributes = ['alpha', 'beta', 'gamma', 'delta'] as const;
const words = ['', 'a', 'ab', 'abc', 'b', 'é', 'Ｚ'] as const;
const numbers = [
  '0',
  '1',
  '-1',
  '2',
  '10',
  '1.5',
  '-0.25',
  '12345678901234567890',
  '100000000000000000000',
] as const;

const word = fc.constantFrom(...words);
const longWord = fc.constantFrom(...words.filter((text) => text !== ''));
const number = fc.constantFrom(...numbers);
const bytes = fc.constantFrom('', 'x', 'xy').map((text) => new Uint8Array(Buffer.from(text)));
const someBytes = bytes.filter(({ length }) => length > 0);

const text: Arbitrary<Value> = word.map((S) => ({ S }));
const numeric: Arbitrary<Value> = number.map((N) => ({ N }));
const scalar: Arbitrary<Value> = fc.oneof(
  { weight: 4, arbitrary: text },
  { weight: 4, arbitrary: numeric },
  fc.boolean().map((BOOL) => ({ BOOL })),
  fc.constant({ NULL: true }),
  bytes.map((B) => ({ B })),
);
const set: Arbitrary<Value> = fc.oneof(
  fc.uniqueArray(longWord, { minLength: 1, maxLength: 3 }).map((SS) => ({ SS })),
  fc.uniqueArray(number, { minLength: 1, maxLength: 3 }).map((NS) => ({ NS })),
  fc
    .uniqueArray(someBytes, { minLength: 1, maxLength: 2, selector: (one) => one.length })
    .map((BS) => ({ BS })),
);
const list: Arbitrary<Value> = fc.array(scalar, { maxLength: 3 }).map((L) => ({ L }));
const map: Arbitrary<Value> = fc
  .dictionary(fc.constantFrom(...attributes), fc.oneof(scalar, list), { maxKeys: 3 })
  .map((M) => ({ M: { ...M } }));
const value: Arbitrary<Value> = fc.oneof({ weight: 4, arbitrary: scalar }, set, list, map);

const key = fc.record({
  owner: fc.constantFrom('p', 'q').map((S) => ({ S })),
  id: fc.constantFrom('a', 'ab', 'b').map((S) => ({ S })),
});
const item = fc
  .tuple(key, fc.dictionary(fc.constantFrom(...attributes), value, { maxKeys: 4 }))
  .map(([keys, others]) => ({ ...others, ...keys }));

/** A part of an expression, with the meaning of its placeholders. */
interface Part {
  readonly text: string;
  readonly names: Readonly<Record<string, string>>;
  readonly values: Readonly<Record<string, Value>>;
}

const plain = (text: string): Part => ({ text, names: {}, values: {} });

/** Joins parts as a template does. */
function joined(texts: readonly string[], ...parts: readonly Part[]): Part {
  return {
    text: texts.map((between, index) => `${between}${parts[index]?.text ?? ''}`).join(''),
    names: Object.fromEntries(parts.flatMap(({ names }) => Object.entries(names))),
    values: Object.fromEntries(parts.flatMap(({ values }) => Object.entries(values))),
  };
}
const part = (texts: TemplateStringsArray, ...parts: readonly Part[]): Part => joined(texts, ...parts);
const listed = (parts: readonly Part[]): Part =>
  joined(['', ...parts.slice(1).map(() => ', '), ''], ...parts);

const attribute: Arbitrary<Part> = fc
  .constantFrom(...attributes)
  .chain((name) =>
    fc.constantFrom(plain(name), { text: `#${name}`, names: { [`#${name}`]: name }, values: {} }),
  );
const path: Arbitrary<Part> = fc.oneof(
  { weight: 4, arbitrary: attribute },
  { weight: 1, arbitrary: fc.tuple(attribute, attribute).map(([a, b]) => part`${a}.${b}`) },
  { weight: 1, arbitrary: fc.tuple(attribute, fc.nat(3)).map(([a, n]) => part`${a}[${plain(String(n))}]`) },
  {
    weight: 1,
    arbitrary: fc
      .tuple(attribute, attribute, fc.nat(2))
      .map(([a, b, n]) => part`${a}.${b}[${plain(String(n))}]`),
  },
);

/** Equal values have equal placeholders, so that different ones don't collide. */
const placeholder = (given: Value): Part => {
  const name = `:v${createHash('sha1').update(toJson(given)).digest('hex').slice(0, 10)}`;
  return { text: name, names: {}, values: { [name]: given } };
};
const literal = value.map(placeholder);
const comparable = fc.oneof({ weight: 4, arbitrary: fc.oneof(text, numeric).map(placeholder) }, literal);
const size = path.map((one) => part`size(${one})`);
const operand = fc.oneof({ weight: 3, arbitrary: path }, { weight: 3, arbitrary: comparable }, size);

/** Operands with a known order, texts or numbers; rarely others, which are refused. */
const ordered = fc.oneof(
  { weight: 6, arbitrary: path },
  { weight: 6, arbitrary: fc.oneof(text, numeric).map(placeholder) },
  { weight: 2, arbitrary: size },
  { weight: 1, arbitrary: literal },
);
const inOrder = fc.constantFrom('<', '<=', '>', '>=').map(plain);
const equality = fc.constantFrom('=', '<>').map(plain);
const types = fc.oneof(
  { weight: 30, arbitrary: fc.constantFrom('S', 'N', 'B', 'SS', 'NS', 'BS', 'M', 'L', 'NULL', 'BOOL') },
  { weight: 1, arbitrary: fc.constant('X') },
);
const bounds = fc
  .oneof(
    fc
      .uniqueArray(longWord, { minLength: 2, maxLength: 2 })
      .map((both) => both.toSorted().map((S): Value => ({ S }))),
    fc.constantFrom(['-1', '1.5'], ['0', '10'], ['1', '2']).map((both) => both.map((N): Value => ({ N }))),
    fc.array(scalar, { minLength: 2, maxLength: 2 }),
  )
  .map((both) => both.map(placeholder));
const leaf: Arbitrary<Part> = fc.oneof(
  fc.tuple(ordered, inOrder, ordered).map(([a, is, b]) => part`${a} ${is} ${b}`),
  { weight: 2, arbitrary: fc.tuple(path, equality, operand).map(([a, is, b]) => part`${a} ${is} ${b}`) },
  fc.tuple(path, bounds).map(([a, [low, high]]) => part`${a} BETWEEN ${low ?? a} AND ${high ?? a}`),
  fc.tuple(ordered, ordered, ordered).map(([a, b, c]) => part`${a} BETWEEN ${b} AND ${c}`),
  fc
    .tuple(operand, fc.array(operand, { minLength: 1, maxLength: 3 }))
    .map(([a, others]) => part`${a} IN (${listed(others)})`),
  path.map((one) => part`attribute_exists(${one})`),
  path.map((one) => part`attribute_not_exists(${one})`),
  fc.tuple(path, types).map(([one, S]) => part`attribute_type(${one}, ${placeholder({ S })})`),
  fc.tuple(path, text).map(([a, b]) => part`begins_with(${a}, ${placeholder(b)})`),
  fc.tuple(path, operand).map(([a, b]) => part`begins_with(${a}, ${b})`),
  fc.tuple(path, operand).map(([a, b]) => part`contains(${a}, ${b})`),
);
const condition: Arbitrary<Part> = fc.letrec<{ condition: Part }>((tie) => ({
  condition: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    leaf,
    fc.tuple(tie('condition'), tie('condition')).map(([a, b]) => part`${a} AND ${b}`),
    fc.tuple(tie('condition'), tie('condition')).map(([a, b]) => part`${a} or (${b} AND ${a})`),
    tie('condition').map((one) => part`NOT (${one})`),
  ),
})).condition;

const source = fc.oneof(
  { weight: 3, arbitrary: literal },
  { weight: 1, arbitrary: path },
  { weight: 1, arbitrary: fc.tuple(path, literal).map(([a, b]) => part`if_not_exists(${a}, ${b})`) },
);
const summand = fc.oneof(
  { weight: 6, arbitrary: numeric.map(placeholder) },
  { weight: 4, arbitrary: path },
  {
    weight: 4,
    arbitrary: fc.tuple(path, numeric).map(([a, b]) => part`if_not_exists(${a}, ${placeholder(b)})`),
  },
  { weight: 1, arbitrary: source },
);
const addend = fc.oneof(
  { weight: 6, arbitrary: list.map(placeholder) },
  { weight: 4, arbitrary: path },
  {
    weight: 4,
    arbitrary: fc.tuple(path, list).map(([a, b]) => part`if_not_exists(${a}, ${placeholder(b)})`),
  },
  { weight: 1, arbitrary: source },
);
const assigned: Arbitrary<Part> = fc.oneof(
  { weight: 3, arbitrary: source },
  fc.tuple(summand, summand).map(([a, b]) => part`${a} + ${b}`),
  fc.tuple(summand, summand).map(([a, b]) => part`${a} - ${b}`),
  fc.tuple(addend, addend).map(([a, b]) => part`list_append(${a}, ${b})`),
);
const actions = (action: Arbitrary<Part>): Arbitrary<Part> =>
  fc.array(action, { minLength: 1, maxLength: 2 }).map(listed);
const setSection = actions(fc.tuple(path, assigned).map(([a, b]) => part`${a} = ${b}`)).map(
  (one) => part`SET ${one}`,
);
const removeSection = actions(path).map((one) => part`REMOVE ${one}`);
const addSection = actions(
  fc.tuple(path, fc.oneof(numeric, set).map(placeholder)).map(([a, b]) => part`${a} ${b}`),
).map((one) => part`ADD ${one}`);
const deleteSection = actions(fc.tuple(path, set.map(placeholder)).map(([a, b]) => part`${a} ${b}`)).map(
  (one) => part`DELETE ${one}`,
);
const update = fc
  .tuple(
    fc.option(setSection, { freq: 3 }),
    fc.option(removeSection, { freq: 1 }),
    fc.option(addSection, { freq: 1 }),
    fc.option(deleteSection, { freq: 1 }),
  )
  .map((sections) => sections.filter((section) => section !== null))
  .filter(({ length }) => length > 0)
  .map((sections) => joined(['', ...sections.slice(1).map(() => ' '), ''], ...sections));

const projection = fc.array(path, { minLength: 1, maxLength: 3 }).map(listed);

const owner = fc.constantFrom('p', 'q').map((S) => placeholder({ S }));
const sortText = fc.constantFrom('a', 'ab', 'b').map((S) => placeholder({ S }));
/** A reserved word, which needs a placeholder. */
const ownerName: Part = { text: '#owner', names: { '#owner': 'owner' }, values: {} };
const keyCondition = fc
  .tuple(
    owner,
    fc.oneof(
      fc.constant(plain('')),
      fc
        .tuple(fc.constantFrom('=', '<', '<=', '>', '>=').map(plain), sortText)
        .map(([is, one]) => part` AND id ${is} ${one}`),
      fc.tuple(sortText, sortText).map(([a, b]) => part` AND id BETWEEN ${a} AND ${b}`),
      sortText.map((one) => part` AND begins_with(id, ${one})`),
    ),
  )
  .map(([of, rest]) => part`${ownerName} = ${of}${rest}`);

/** Writes the expressions of a call with their placeholders. */
function expressions(parts: Readonly<Record<string, Part | null>>): Readonly<Record<string, unknown>> {
  const present = Object.entries(parts).flatMap(([name, one]) =>
    one === null ? [] : [[name, one] as const],
  );
  const { names, values } = joined(
    present.map(() => ''),
    ...present.map(([, one]) => one),
  );
  return {
    ...Object.fromEntries(present.map(([name, { text }]) => [name, text])),
    ...(Object.keys(names).length > 0 && { ExpressionAttributeNames: names }),
    ...(Object.keys(values).length > 0 && { ExpressionAttributeValues: values }),
  };
}

const perhaps = (arbitrary: Arbitrary<Part>): Arbitrary<Part | null> => fc.option(arbitrary, { freq: 1 });

const put: Arbitrary<Call> = fc
  .tuple(item, perhaps(condition), fc.constantFrom('NONE', 'ALL_OLD'))
  .map(([Item, ConditionExpression, ReturnValues]) => ({
    operation: 'PutItem',
    input: { Item, ReturnValues, ...expressions({ ConditionExpression }) },
  }));
const updateItem: Arbitrary<Call> = fc
  .tuple(
    key,
    update,
    fc.option(condition, { freq: 3 }),
    fc.constantFrom('NONE', 'ALL_OLD', 'ALL_NEW', 'UPDATED_NEW', 'UPDATED_OLD'),
  )
  .map(([Key, UpdateExpression, ConditionExpression, ReturnValues]) => ({
    operation: 'UpdateItem',
    input: { Key, ReturnValues, ...expressions({ UpdateExpression, ConditionExpression }) },
  }));
const deleteItem: Arbitrary<Call> = fc.tuple(key, condition).map(([Key, ConditionExpression]) => ({
  operation: 'DeleteItem',
  input: { Key, ReturnValues: 'ALL_OLD', ...expressions({ ConditionExpression }) },
}));
const get: Arbitrary<Call> = fc.tuple(key, perhaps(projection)).map(([Key, ProjectionExpression]) => ({
  operation: 'GetItem',
  input: { Key, ...expressions({ ProjectionExpression }) },
}));
const query: Arbitrary<Call> = fc
  .tuple(keyCondition, perhaps(condition), fc.option(projection, { freq: 3 }))
  .map(([KeyConditionExpression, FilterExpression, ProjectionExpression]) => ({
    operation: 'Query',
    input: expressions({ KeyConditionExpression, FilterExpression, ProjectionExpression }),
  }));
const scan: Arbitrary<Call> = fc
  .tuple(condition, fc.option(projection, { freq: 3 }))
  .map(([FilterExpression, ProjectionExpression]) => ({
    operation: 'Scan',
    input: expressions({ FilterExpression, ProjectionExpression }),
  }));

/** A sequence of calls. Writes come first, so that there are rows to read. */
export const calls: Arbitrary<readonly Call[]> = fc
  .tuple(
    fc.array(put, { minLength: 2, maxLength: 4 }),
    fc.array(
      fc.oneof(
        { weight: 4, arbitrary: updateItem },
        { weight: 1, arbitrary: put },
        { weight: 1, arbitrary: deleteItem },
        { weight: 1, arbitrary: get },
        { weight: 1, arbitrary: query },
        { weight: 1, arbitrary: scan },
      ),
      { minLength: 4, maxLength: 8 },
    ),
  )
  .map(([first, then]) => [...first, ...then].map(ofTable));

const ofTable = ({ operation, input }: Call): Call => ({
  operation,
  input: { TableName: 'workflows', ...input },
});
