/** The inputs of the DynamoDB operations that the service and its tests use, and the messages for invalid ones. */
import * as z from 'zod/mini';

const wrongType = 'Unexpected value type in payload';
/** The attributes in it are checked elsewhere. */
const anObject = z.custom<Readonly<Record<string, unknown>>>(
  (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
  wrongType,
);
const texts = z.custom<Readonly<Record<string, string>>>(
  (value) =>
    typeof value === 'object' &&
    value !== null &&
    Object.values(value).every((one) => typeof one === 'string'),
  wrongType,
);
const text = z.optional(z.string());
/** In the order in which error messages list them. */
const returnValues = z.enum(['ALL_NEW', 'UPDATED_OLD', 'ALL_OLD', 'NONE', 'UPDATED_NEW']);
const returnOld = z.optional(
  returnValues.check(
    z.refine((value) => value === 'ALL_OLD' || value === 'NONE', 'ReturnValues can only be ALL_OLD or NONE'),
  ),
);

const capacity = { ReturnConsumedCapacity: z.optional(z.enum(['INDEXES', 'TOTAL', 'NONE'])) };
const placeholders = {
  ExpressionAttributeNames: z.optional(texts),
  ExpressionAttributeValues: z.optional(anObject),
};
const write = {
  TableName: z.string(),
  ...placeholders,
  ...capacity,
  ConditionExpression: text,
  ReturnValuesOnConditionCheckFailure: z.optional(z.enum(['ALL_OLD', 'NONE'])),
};
const reading = { ConsistentRead: z.optional(z.boolean()), ProjectionExpression: text };
const pages = {
  TableName: z.string(),
  IndexName: text,
  Limit: z.optional(z.int().check(z.gte(1))),
  ExclusiveStartKey: z.optional(anObject),
  FilterExpression: text,
  Select: z.optional(z.enum(['SPECIFIC_ATTRIBUTES', 'COUNT', 'ALL_ATTRIBUTES', 'ALL_PROJECTED_ATTRIBUTES'])),
  ...reading,
  ...placeholders,
  ...capacity,
};

export const getInput = z.object({
  TableName: z.string(),
  Key: anObject,
  ...reading,
  ...capacity,
  ExpressionAttributeNames: z.optional(texts),
});
export const putInput = z.object({
  ...write,
  Item: anObject,
  ReturnValues: returnOld,
});
export const updateInput = z.object({
  ...write,
  Key: anObject,
  UpdateExpression: text,
  ReturnValues: z.optional(returnValues),
});
export const deleteInput = z.object({
  ...write,
  Key: anObject,
  ReturnValues: returnOld,
});
export const queryInput = z.object({
  ...pages,
  KeyConditionExpression: z.string(
    'Either the KeyConditions or KeyConditionExpression parameter must be specified in the request.',
  ),
  ScanIndexForward: z.optional(z.boolean()),
});
export const scanInput = z.object(pages);
const emptyRequests =
  "1 validation error detected: Value '{}' at 'requestItems' failed to satisfy constraint: Member must have length greater than or equal to 1";
const requests = <Request extends z.ZodMiniType>(request: Request) =>
  z.record(z.string(), request).check(z.refine((tables) => Object.keys(tables).length > 0, emptyRequests));
export const batchGetInput = z.object({
  RequestItems: requests(
    z.object({
      Keys: z.array(anObject).check(z.minLength(1), z.maxLength(100)),
      ...reading,
      ExpressionAttributeNames: z.optional(texts),
    }),
  ),
  ...capacity,
});
export const batchWriteInput = z.object({
  RequestItems: requests(
    z
      .array(
        z
          .object({
            PutRequest: z.optional(z.object({ Item: anObject })),
            DeleteRequest: z.optional(z.object({ Key: anObject })),
          })
          .check(
            z.refine(
              (one) => (one.PutRequest === undefined) !== (one.DeleteRequest === undefined),
              'Supplied AttributeValue has more than one datatypes set, must contain exactly one of the supported datatypes',
            ),
          ),
      )
      .check(z.minLength(1), z.maxLength(25)),
  ),
  ...capacity,
});

export type Page = z.infer<typeof scanInput>;

/** Describes an input's first issue, as DynamoDB does. */
export function wordsOf(input: unknown, { issues: [issue] }: z.core.$ZodError): string {
  if (issue === undefined) return 'The input is invalid';
  const value = issue.path.reduce(memberOf, input);
  const own = issue.code === 'custom' || issue.path[0] === 'KeyConditionExpression';
  if (own && (value !== undefined || issue.message !== wrongType)) return issue.message;
  const isPlain = typeof value === 'string' || typeof value === 'number';
  const text = isPlain ? ` '${value}'` : value === undefined ? ' null' : '';
  const at = `Value${text} at '${placeOf(issue.path)}'`;
  return `1 validation error detected: ${at} failed to satisfy constraint: Member must ${demandOf(issue, value)}`;
}

function memberOf(value: unknown, name: PropertyKey): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}

/** The path of a field. Requests are in a map by table. */
const placeOf = ([first = '', table, ...others]: readonly PropertyKey[]): string =>
  [lower(first), ...(table === undefined ? [] : [String(table), 'member']), ...others.map(lower)].join('.');

const lower = (name: PropertyKey): string => {
  const text = String(name);
  return `${text.charAt(0).toLowerCase()}${text.slice(1)}`;
};

function demandOf(issue: z.core.$ZodIssue, value: unknown): string {
  if (value === undefined) return 'not be null';
  if (issue.code === 'invalid_value')
    return `satisfy enum value set: [${issue.values.map(String).join(', ')}]`;
  const what = typeof value === 'number' ? 'value' : 'length';
  if (issue.code === 'too_small') return `have ${what} greater than or equal to ${String(issue.minimum)}`;
  if (issue.code === 'too_big') return `have ${what} less than or equal to ${String(issue.maximum)}`;
  return 'have another type';
}
