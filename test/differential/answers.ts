/** Answers of databases in a comparable form, and the known faults of other databases. */
import type { Database } from './databases.ts';
import type { Call } from './generate.ts';

/** Makes a call, and writes its answer or error as a text. */
export async function answerOf(database: Database, { operation, input }: Call): Promise<string> {
  try {
    const output = await database.call(operation, input);
    return JSON.stringify(comparable(output));
  } catch (error) {
    return refusalOf(error);
  }
}

/** Writes an error as a text. @throws other values */
export function refusalOf(error: unknown): string {
  if (!(error instanceof Error)) throw error;
  const code = 'code' in error ? String(error.code) : error.name;
  const members = 'members' in error ? JSON.stringify(comparable(error.members)) : '{}';
  const message = error.message.replace(/^1 validation error detected: /, '');
  return `${code}: ${message}${members === '{}' ? '' : ` ${members}`}`;
}

/** Members whose order is undefined. */
const unordered = new Set(['SS', 'NS', 'BS', 'Items', 'ConsumedCapacity']);

/** Sorts a value's members, and writes bytes as texts. */
export function comparable(value: unknown, name = ''): unknown {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('hex');
  if (Array.isArray(value)) {
    const members = value.map((member) => comparable(member));
    return unordered.has(name) ? members.map((member) => JSON.stringify(member)).toSorted() : members;
  }
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, member]) => member !== undefined)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, member]) => [name, comparable(member, name)]),
  );
}

interface Fault {
  readonly why: string;
  readonly ours: RegExp;
  readonly theirs: RegExp;
  /** Texts whose removal makes both answers equal. */
  readonly without?: RegExp;
  /** Whether moto must agree with this engine, unless the call fails there. */
  readonly isSeconded?: boolean;
}

/** Faults of dynoxide in reads and writes of rows. */
const faultsOfRows: readonly Fault[] = [
  {
    why: 'ALL_OLD of a row that did not exist has no attributes',
    ours: /^\{("ConsumedCapacity":.*)?\}$/,
    theirs: /^\{"Attributes":/,
    without: /"Attributes":\{("(id|shard|lane|part|owner)":\{"S":"(\\.|[^"\\])*"\},?)+\},?/g,
  },
  {
    why: 'a Query begins behind a row that it reads',
    ours: /^ValidationException: The provided starting key (is outside|does not match)/,
    theirs: /^[{[]/,
  },
  {
    why: 'behind the only row of a partition there is none',
    ours: /^[{[].*"Count":0/,
    theirs: /^The pages have no end|"Count":1/,
  },
  {
    why: 'a Query is refused for a value that cannot be in a key',
    ours: /^ValidationException: (Invalid KeyConditionExpression: Incorrect operand type|One or more parameter values (are not valid. The AttributeValue for a key|were invalid: Condition parameter type))/,
    theirs: /^[{[]|^The pages have no end/,
  },
  {
    why: 'a cursor has the keys of a row',
    ours: /^ValidationException: The provided starting key is invalid/,
    theirs: /^[{[]|^accepted|^ValidationException: The provided (starting key|key element)/,
  },
  {
    why: 'keys of an index are no longer than those of a table',
    ours: /^ValidationException: One or more parameter values were invalid: (Size of hashkey|Aggregated size of all range keys)/,
    theirs: /^\{/,
  },
  {
    why: 'a row is read as a whole, however little of it is answered',
    ours: /^\{"ConsumedCapacity":.*"(Item|Responses)":/,
    theirs: /^\{"ConsumedCapacity":.*"(Item|Responses)":/,
    without: /"CapacityUnits":[\d.]+/g,
    isSeconded: false,
  },
  {
    why: 'an empty batch is refused in words of its own',
    ours: /^ValidationException: Value '\{\}' at 'requestItems' failed/,
    theirs: /^ValidationException: (Value at 'RequestItems' failed|The requestItems parameter is required)/,
  },
  {
    why: 'a call with two things wrong may tell of either',
    ours: /^(ValidationException: (One or more parameter values|The provided key element|Provided list|Value at|The table does not have)|ResourceNotFound)/,
    theirs:
      /^(ValidationException: (One or more parameter values|The provided key element|Provided list|Value (at|')|Consistent reads)|ResourceNotFound)/,
  },
];

/** Faults of dynoxide. AWS's documents, and answers of AWS that others have recorded, agree with this engine. */
const faults: readonly Fault[] = [
  {
    why: 'an element that is set beyond the end of a list follows its last one, without NULL between them',
    ours: /^\{/,
    theirs: /\{"NULL":true\}/,
    without: /\{"NULL":true\},?/g,
  },
  {
    why: 'an element that did not exist is not among the old attributes, and neither is its list',
    ours: /^\{/,
    theirs: /"L":\[\]/,
    without: /^\{\}$|\{"Attributes":\{"\w+":\{"L":\[\]\}\}\}|"\w+":\{"L":\[\]\},|,"\w+":\{"L":\[\]\}/g,
  },
  {
    why: 'a path with an index leads nowhere in a value that is not a list',
    ours: /^ValidationException: The document path/,
    theirs: /^\{/,
    isSeconded: true,
  },
  {
    why: 'the types of operands are named by their short names, except after "operator: ADD"',
    ours: /operator or function: .+, operand type: (S|N|B|SS|NS|BS|M|L|BOOL|NULL)$/,
    theirs: /operator or function: .+, operand type: [A-Z_]{3,}$/,
  },
  {
    why: 'an operand of a wrong type has one sentence',
    ours: /^ValidationException: An operand in the update expression has an incorrect data type$/,
    theirs: /^ValidationException: (Operands for . must be numbers|list_append requires two list operands)$/,
  },
  {
    why: 'an update with two things wrong may tell of either',
    ours: /^ValidationException: The (document path|provided expression)/,
    theirs:
      /^ValidationException: (The document path|The provided expression|An operand|Operands for|list_append requires)/,
  },
  {
    why: 'operands of a type that has no order are refused in all parts of a condition, and so is begins_with of a size',
    ours: /^ValidationException: Invalid \w+: Incorrect operand type for operator or function; operator or function: (<|<=|>|>=|BETWEEN|begins_with), /,
    theirs: /^/,
  },
  {
    why: 'bounds are compared, operands must be distinct, and types must exist in all parts of a condition',
    ours: /^ValidationException: Invalid \w+: (The BETWEEN operator|The first operand|Invalid attribute type)/,
    theirs: /^/,
  },
  {
    why: 'a path cannot lead through a list and a map',
    ours: /Two document paths conflict/,
    theirs: /^/,
  },
  {
    why: 'overlapping paths are told in the order of the expression, and before wrong operands',
    ours: /Two document paths overlap/,
    theirs: /^ValidationException: Invalid \w+: /,
  },
  {
    why: 'an expression with two things wrong may tell of either',
    ours: /^ValidationException: Invalid \w+: /,
    theirs: /^ValidationException: Invalid \w+: /,
  },
];

/**
 * Explains why dynoxide's answer may differ; undefined if there is no known reason.
 *
 * @param others moto's answer, if it runs
 */
export const knownFault = (ours: string, theirs: string, others: string | undefined): string | undefined =>
  [...faults, ...faultsOfRows].find(
    (fault) =>
      fault.ours.test(ours) &&
      fault.theirs.test(theirs) &&
      (fault.isSeconded !== true || others === undefined || others === ours || others.startsWith('500')) &&
      (fault.without === undefined ||
        ours.replaceAll(fault.without, '') === theirs.replaceAll(fault.without, '')),
  )?.why;
