import * as z from 'zod/mini';

/** @param time the shape of times: texts, or numbers in the Upstash dialect */
const shapeOf = <Time extends z.ZodMiniType>(time: Time) =>
  z.object({
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
    notBefore: time,
    createdAt: time,
    scheduleId: z.optional(z.string()),
    callerIP: z.string(),
  });

const svc = shapeOf(z.string());
const upstash = shapeOf(z.number());

interface Delivered {
  readonly body: Buffer;
  readonly headers: Readonly<Record<string, string>>;
}

/** A callback's body, with all fields of the contract in the dialect of its delivery. */
export const callbackOf = ({ body, headers }: Delivered): z.infer<typeof svc> | z.infer<typeof upstash> =>
  ('upstash-message-id' in headers && !('svc-message-id' in headers) ? upstash : svc).parse(
    JSON.parse(body.toString('utf8')),
  );
