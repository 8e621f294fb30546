/**
 * CloudFormation's request for a custom resource of `SvcQueue`: see "Custom resource request objects" in the CloudFormation
 * user guide.
 */
import * as z from 'zod/mini';

/** CloudFormation turns all properties into texts, so the fields are JSON in one property. */
const json = z.pipe(
  z.string(),
  z.transform((text): unknown => JSON.parse(text)),
);

const headerPairs = z.array(z.tuple([z.string(), z.string()]));

export const accountInput = z.object({
  kind: z.literal('account'),
  /**
   * A UUID derived from the names of the deployment and the account, so that a repeated request does not make
   * another account.
   */
  id: z.string(),
  /** In the form of the management API. */
  fields: z.record(z.string(), z.unknown()),
  /** The base URL of the API, for clients. */
  url: z.string(),
  secret: z.string(),
});
export const scheduleInput = z.object({
  kind: z.literal('schedule'),
  accountId: z.string(),
  id: z.string(),
  destination: z.string(),
  headers: headerPairs,
  body: z.string(),
});
export const urlGroupInput = z.object({
  kind: z.literal('urlGroup'),
  accountId: z.string(),
  name: z.string(),
  endpoints: z.array(z.object({ url: z.string(), name: z.optional(z.string()) })),
});

const input = z.discriminatedUnion('kind', [accountInput, scheduleInput, urlGroupInput]);
export type Input = z.infer<typeof input>;

/** @throws Error for input that another version of the package wrote */
export const readInput = (properties: unknown): Input =>
  z.object({ Input: z.pipe(json, input) }).parse(properties).Input;

export const event = z.object({
  RequestType: z.enum(['Create', 'Update', 'Delete']),
  /** A presigned URL: everyone who has it can answer. */
  ResponseURL: z.string(),
  StackId: z.string(),
  RequestId: z.string(),
  LogicalResourceId: z.string(),
  /** Missing in the request that creates the resource. */
  PhysicalResourceId: z.optional(z.string()),
  ResourceProperties: z.unknown(),
  /** Only in a request that updates the resource. */
  OldResourceProperties: z.optional(z.unknown()),
});
export type Event = z.infer<typeof event>;
