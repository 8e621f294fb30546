import * as z from 'zod/mini';

export const callbackShape = z.object({
  status: z.number(),
  error: z.optional(z.string()),
  header: z.record(z.string(), z.array(z.string())),
  body: z.string(),
  retried: z.number(),
  maxRetries: z.number(),
  dlqId: z.optional(z.string()),
  sourceMessageId: z.string(),
  topicName: z.optional(z.string()),
  endpointName: z.optional(z.string()),
  url: z.string(),
  method: z.string(),
  sourceHeader: z.record(z.string(), z.string()),
  sourceBody: z.string(),
  notBefore: z.string(),
  createdAt: z.string(),
  scheduleId: z.optional(z.string()),
  callerIP: z.string(),
});

/** A callback's body, checked to have the fields of the contract. */
export const callbackOf = (delivery: { readonly body: Buffer }): z.infer<typeof callbackShape> =>
  callbackShape.parse(JSON.parse(delivery.body.toString('utf8')));
