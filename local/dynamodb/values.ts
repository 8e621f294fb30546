/** DynamoDB's values: their types, checks of values from clients, and comparisons. */
import { AwsError, refused } from '../aws/awsError.ts';
import { canonicalNumber, compareNumbers } from './numbers.ts';

export type Value =
  | { readonly S: string }
  | { readonly N: string }
  | { readonly B: Uint8Array }
  | { readonly SS: readonly string[] }
  | { readonly NS: readonly string[] }
  | { readonly BS: readonly Uint8Array[] }
  | { readonly M: Item }
  | { readonly L: readonly Value[] }
  | { readonly NULL: boolean }
  | { readonly BOOL: boolean };

/** Attributes by name. Any text can be a name, including `__proto__` and `constructor`. */
export type Item = Readonly<Record<string, Value>>;

type KeysOf<Type> = Type extends unknown ? keyof Type : never;
export type TypeName = KeysOf<Value>;

/** The types of values. They are tried in this order, so frequent ones are first. */
const names = ['S', 'N', 'BOOL', 'M', 'L', 'B', 'SS', 'NS', 'BS', 'NULL'] as const;
const known: ReadonlySet<string> = new Set(names);

export const isTypeName = (name: string): name is TypeName => known.has(name);

/** The deepest nesting: a text in a list is on the second level. */
const maxDepth = 32;

export const invalid = (message: string): AwsError =>
  refused(`One or more parameter values were invalid: ${message}`);

export const attributeOf = (item: Item, name: string): Value | undefined =>
  Object.hasOwn(item, name) ? item[name] : undefined;

/** Adds an attribute to an item that is being built, even one named `__proto__`. */
export function setAttribute(item: Record<string, Value>, name: string, value: Value): void {
  if (name === '__proto__') {
    Object.defineProperty(item, name, { value, enumerable: true, writable: true, configurable: true });
  } else item[name] = value;
}

export function typeOf(value: Value): TypeName {
  for (const name of names) if (name in value) return name;
  throw new TypeError('A value has one of the types.');
}

/**
 * Checks an item or a key from a client.
 *
 * @returns the item with canonical numbers; the same object if they were canonical
 * @throws AwsError with DynamoDB's message
 */
export const checkedItem = (input: unknown): Item => checkedMap(input, 0);

/**
 * Checks a value as {@link checkedItem} does.
 *
 * @param depth the number of enclosing lists and maps
 */
export const checkedValue = (input: unknown, depth = 0): Value => checkedAt(input, depth);

const isObject = (input: unknown): input is Readonly<Record<string, unknown>> =>
  typeof input === 'object' && input !== null && !Array.isArray(input);

function checkedMap(input: unknown, depth: number): Item {
  if (!isObject(input)) throw wrongMember('M');
  const names = Object.keys(input);
  let copy: Record<string, Value> | undefined;
  for (const [index, name] of names.entries()) {
    const given = input[name];
    const value = given === undefined ? undefined : checkedAt(given, depth);
    if (copy === undefined && (value === undefined || value !== given)) {
      copy = {};
      for (const before of names.slice(0, index)) setAttribute(copy, before, checkedAt(input[before], depth));
    }
    if (copy !== undefined && value !== undefined) setAttribute(copy, name, value);
  }
  if (copy !== undefined) return copy;
  holdsChecked(input);
  return input;
}

/** Tells the compiler that the caller has checked all values of a map. */
function holdsChecked(_map: Readonly<Record<string, unknown>>): asserts _map is Item {}

/** @param depth the number of enclosing lists and maps */
function checkedAt(input: unknown, depth: number): Value {
  if (!isObject(input)) throw new AwsError('SerializationException', 'Unexpected value type in payload');
  if (depth >= maxDepth) {
    throw refused(
      'Nesting Levels have exceeded supported limits: Attributes in the item have nested levels beyond supported limit',
    );
  }
  let type: string | undefined;
  let hasUndefined = false;
  for (const name in input) {
    if (input[name] === undefined) hasUndefined = true;
    else if (type === undefined) type = name;
    else throw refused(`Supplied AttributeValue has more than one datatypes set, ${mustHaveOne}`);
  }
  if (type === undefined || !isTypeName(type)) {
    throw refused(`Supplied AttributeValue is empty, ${mustHaveOne}`);
  }
  return checks[type](hasUndefined ? { [type]: input[type] } : input, depth);
}

const mustHaveOne = 'must contain exactly one of the supported datatypes';

type Input = Readonly<Record<string, unknown>>;

const isText = (input: Input): input is { S: string } => typeof input['S'] === 'string';
const isNumber = (input: Input): input is { N: string } => typeof input['N'] === 'string';
const isBytes = (input: Input): input is { B: Uint8Array } => input['B'] instanceof Uint8Array;
const isBoolean = (input: Input): input is { BOOL: boolean } => typeof input['BOOL'] === 'boolean';
const isNull = (input: Input): input is { NULL: boolean } => typeof input['NULL'] === 'boolean';
const isList = (input: Input): input is { L: readonly unknown[] } => Array.isArray(input['L']);
const isCheckedList = (input: Input, list: readonly Value[]): input is { L: readonly Value[] } =>
  input['L'] === list;
const isCheckedMap = (input: Input, map: Item): input is { M: Item } => input['M'] === map;

const wrongMember = (type: string): AwsError =>
  new AwsError('SerializationException', `Unexpected value type of ${type} in payload`);

/** Checks for each type. They return the value as it is stored. */
const checks: Readonly<Record<TypeName, (input: Input, depth: number) => Value>> = {
  S: (input) => {
    if (isText(input)) return input;
    throw wrongMember('S');
  },
  N: (input) => {
    if (!isNumber(input)) throw wrongMember('N');
    const number = canonicalNumber(input.N);
    return number === input.N ? input : { N: number };
  },
  B: (input) => {
    if (isBytes(input)) return input;
    throw wrongMember('B');
  },
  BOOL: (input) => {
    if (isBoolean(input)) return input;
    throw wrongMember('BOOL');
  },
  NULL: (input) => {
    if (!isNull(input)) throw wrongMember('NULL');
    if (!input.NULL) throw invalid('Null attribute value types must have the value of true');
    return input;
  },
  SS: (input) => {
    if (!isTextSet(input)) throw wrongMember('SS');
    checkTexts(input.SS);
    return input;
  },
  NS: (input) => {
    if (!isNumberSet(input)) throw wrongMember('NS');
    const numbers = checkedNumbers(input.NS);
    return numbers.every((number, index) => number === input.NS[index]) ? input : { NS: numbers };
  },
  BS: (input) => {
    if (!isByteSet(input)) throw wrongMember('BS');
    checkBytes(input.BS);
    return input;
  },
  L: (input, depth) => {
    if (!isList(input)) throw wrongMember('L');
    const list = checkedList(input.L, depth + 1);
    return isCheckedList(input, list) ? input : { L: list };
  },
  M: (input, depth) => {
    const map = checkedMap(input['M'], depth + 1);
    return isCheckedMap(input, map) ? input : { M: map };
  },
};

function checkedList(list: readonly unknown[], depth: number): readonly Value[] {
  const values = list.map((value) => checkedAt(value, depth));
  return isSameList(list, values) ? list : values;
}

const isSameList = (list: readonly unknown[], values: readonly Value[]): list is readonly Value[] =>
  values.every((value, index) => value === list[index]);

const areTexts = (input: unknown): boolean =>
  Array.isArray(input) && input.every((member) => typeof member === 'string');
const isTextSet = (input: Input): input is { SS: readonly string[] } => areTexts(input['SS']);
const isNumberSet = (input: Input): input is { NS: readonly string[] } => areTexts(input['NS']);
const isByteSet = (input: Input): input is { BS: readonly Uint8Array[] } =>
  Array.isArray(input['BS']) && input['BS'].every((member) => member instanceof Uint8Array);

function checkTexts(texts: readonly string[]): void {
  if (texts.length === 0) throw invalid('An string set  may not be empty');
  if (new Set(texts).size < texts.length) {
    throw invalid(`Input collection [${texts.join(', ')}] contains duplicates.`);
  }
}

function checkedNumbers(given: readonly string[]): readonly string[] {
  if (given.length === 0) throw invalid('An number set  may not be empty');
  const numbers = given.map(canonicalNumber);
  if (new Set(numbers).size < numbers.length) throw refused('Input collection contains duplicates');
  return numbers;
}

function checkBytes(members: readonly Uint8Array[]): void {
  if (members.length === 0) throw invalid('Binary sets should not be empty');
  if (new Set(members.map(textOfBytes)).size < members.length) {
    throw invalid(`Input collection [${members.map(javaBytes).join(', ')}]of type BS contains duplicates.`);
  }
}

const javaBytes = ({ length }: Uint8Array): string =>
  `java.nio.HeapByteBuffer[pos=0 lim=${length} cap=${length}]`;

/** Converts bytes to texts. Only equal bytes have equal texts. */
export const textOfBytes = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');

/**
 * Compares two keys of one type: texts (by their UTF-8 bytes), numbers, or bytes. Undefined for other types,
 * which have no order.
 */
export function compareValues(a: Value, b: Value): number | undefined {
  if ('S' in a) return 'S' in b ? Buffer.compare(Buffer.from(a.S), Buffer.from(b.S)) : undefined;
  if ('N' in a) return 'N' in b ? compareNumbers(a.N, b.N) : undefined;
  if ('B' in a) return 'B' in b ? Buffer.compare(a.B, b.B) : undefined;
  return undefined;
}

/** Whether two values have the same type and content. The order in sets does not matter. */
export function areEqual(a: Value, b: Value): boolean {
  if ('S' in a) return 'S' in b && a.S === b.S;
  if ('N' in a) return 'N' in b && a.N === b.N;
  if ('BOOL' in a) return 'BOOL' in b && a.BOOL === b.BOOL;
  if ('B' in a) return 'B' in b && Buffer.compare(a.B, b.B) === 0;
  if ('M' in a) return 'M' in b && areEqualMaps(a.M, b.M);
  if ('L' in a) return 'L' in b && areEqualLists(a.L, b.L);
  if ('NULL' in a) return 'NULL' in b;
  return typeOf(a) === typeOf(b) && areEqualSets(membersOf(a), membersOf(b));
}

function areEqualMaps(a: Item, b: Item): boolean {
  const names = Object.keys(a);
  return (
    names.length === Object.keys(b).length &&
    names.every((name) => {
      const [one, other] = [attributeOf(a, name), attributeOf(b, name)];
      return one !== undefined && other !== undefined && areEqual(one, other);
    })
  );
}

const areEqualLists = (a: readonly Value[], b: readonly Value[]): boolean =>
  a.length === b.length &&
  a.every((one, index) => {
    const other = b[index];
    return other !== undefined && areEqual(one, other);
  });

const areEqualSets = (a: ReadonlySet<string>, b: ReadonlySet<string>): boolean =>
  a.size === b.size && [...a].every((member) => b.has(member));

/** The members of a set, as comparable texts; empty for other values. */
export function membersOf(value: Value): ReadonlySet<string> {
  if ('SS' in value) return new Set(value.SS);
  if ('NS' in value) return new Set(value.NS);
  return new Set('BS' in value ? value.BS.map(textOfBytes) : []);
}
