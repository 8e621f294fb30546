import { attemptJob } from '../../job/job.ts';
import { expiryOf, type Message } from '../../message/message.ts';
import type { MessageChanges } from '../../request/messageChange.ts';
import type { Limits } from '../../value/limits.ts';

/** @param before when the next attempt was due, Unix milliseconds */
export function changed(
  message: Message,
  { attempt, before }: { readonly attempt: number; readonly before: number },
  { id, dueAt, headers, ...given }: MessageChanges & { readonly id: string },
  limits: Limits,
): Message {
  const names = new Set(headers.map(([name]) => name));
  const dueTimes = { ...message.change?.dueAt, ...(attempt > 0 && { [attempt]: dueAt ?? before }) };
  const after = {
    ...message,
    notBefore: attempt === 0 ? (dueAt ?? message.notBefore) : message.notBefore,
    maxRetries: given.maxRetries ?? message.maxRetries,
    timeoutMs: given.timeoutMs ?? message.timeoutMs,
    labels: given.labels ?? message.labels,
    headers: [
      ...message.headers.filter(([name]) => !names.has(name)),
      ...headers.filter(([, value]) => value !== ''),
    ],
    change: { id, dueAt: dueTimes },
  };
  const needed = expiryOf({ ...after, notBefore: dueAt ?? before }, limits);
  return { ...after, expiresAt: Math.max(message.expiresAt, needed) };
}

/** A message keeps its queue's slot between attempts, under a name with its delivery queue, which must stay the same. */
export const isDeliverableBy = (
  { message: before, attempts }: { readonly message: Message; readonly attempts: readonly unknown[] },
  after: Message,
): boolean =>
  before.queueName === undefined ||
  attempts.length === 0 ||
  attemptJob(before, 0).queue === attemptJob(after, 0).queue;
