/**
 * A request of CloudFormation for a custom resource, which an app of the CDK makes with `SvcQueue`: see "Custom resource request
 * objects" in the user guide of CloudFormation.
 */
import * as z from 'zod/mini';

/** CloudFormation makes texts of all properties, so the wanted fields are in one of them, as JSON. */
const json = z.pipe(
  z.string(),
  z.transform((text): unknown => JSON.parse(text)),
);

const headerPairs = z.array(z.tuple([z.string(), z.string()]));

export const accountInput = z.object({
  kind: z.literal('account'),
  /** A UUID that follows from the deployment's name and the account's, so that a request that comes twice makes one account. */
  id: z.string(),
  /** As the management API takes them. */
  fields: z.record(z.string(), z.unknown()),
  /** The base URL of the API, for the clients. */
  url: z.string(),
  /** The ARN of the secret that gets the credentials. */
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

/** Reads what is wanted. @throws Error for what another version of the package wrote and this one does not know */
export const readInput = (properties: unknown): Input =>
  z.object({ Input: z.pipe(json, input) }).parse(properties).Input;

export const event = z.object({
  RequestType: z.enum(['Create', 'Update', 'Delete']),
  /** A presigned URL: who has it may answer. */
  ResponseURL: z.string(),
  StackId: z.string(),
  RequestId: z.string(),
  LogicalResourceId: z.string(),
  /** Absent in the request that creates the resource. */
  PhysicalResourceId: z.optional(z.string()),
  ResourceProperties: z.unknown(),
  /** Only in a request that updates the resource. */
  OldResourceProperties: z.optional(z.unknown()),
});
export type Event = z.infer<typeof event>;
