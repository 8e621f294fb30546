/** The JSON bodies that clients send, as they are checked and as the API's description shows them. */
import * as z from 'zod/mini';

const headerValue = z.union([z.string(), z.array(z.string())]);

export const longestBatch = 1_000;

/** One message of a batch. */
export const batchItem = z.strictObject({
  destination: z.string().check(z.describe('A URL, or the name of a URL group.')),
  body: z.optional(z.string()),
  headers: z.optional(
    z
      .record(z.string(), headerValue)
      .check(z.describe('What a publish takes as headers: `Svc-Retries`, `Content-Type` and so on.')),
  ),
  queue: z.optional(z.string().check(z.describe('The name of a queue, as for an enqueue.'))),
});

/** `paused` is what the published client always says; queues cannot be paused yet. */
export const queueSettings = z.strictObject({
  queueName: z.string().check(z.describe('The queue’s name: letters, digits, `.`, `_` and `-`.')),
  parallelism: z.optional(
    z
      .int()
      .check(z.minimum(1), z.describe('Deliveries in flight at once; by default what it was, or else 1.')),
  ),
  paused: z.optional(z.literal(false)),
});

const endpointName = z
  .string()
  .check(
    z.minLength(1),
    z.maxLength(128),
    z.describe('Names the endpoint within its group: letters, digits, `.`, `_` and `-`.'),
  );

export const addedEndpoints = z.object({
  endpoints: z.array(z.object({ url: z.string(), name: z.optional(endpointName) })).check(z.minLength(1)),
});

/** Each is named by its URL, its name, or both. */
export const removedEndpoints = z.object({
  endpoints: z
    .array(z.object({ url: z.optional(z.string()), name: z.optional(endpointName) }))
    .check(z.minLength(1)),
});

export const groupDefaults = z.object({
  headers: z
    .record(z.string(), headerValue)
    .check(z.describe('Headers of the service such as `Svc-Retries`; a request’s own win.')),
});
