import { HttpError, badRequest, quote } from '../../error/httpError.ts';
import { attemptJob } from '../../job/job.ts';
import type { MessageHistory } from '../../message/history.ts';
import { expiryOf, type Message } from '../../message/message.ts';
import type { MessageChanges } from '../../request/messageChange.ts';
import { clockMarginMs, secondMs } from '../../shared/clock.ts';
import type { Limits } from '../../value/limits.ts';

/** @param before when the next attempt was due before the change */
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

/**
 * Whether the changed message stays in the same delivery queue, which entries of lines and slots of queues
 * name.
 */
export const isDeliverableBy = (
  { message: before, attempts }: { readonly message: Message; readonly attempts: readonly unknown[] },
  after: Message,
  isInLine: boolean,
): boolean =>
  attemptJob(before, 0).queue === attemptJob(after, 0).queue ||
  !(isInLine || (before.queueName !== undefined && attempts.length > 0));

const conflict = (sentence: string): HttpError => new HttpError(409, 'attempt_due', sentence);

export const manyChanges = (messageId: string): string =>
  `The message ${quote(messageId)} is being changed by many at once; send the change again.`;

/** @throws HttpError 400 for a message of a run; 409 for one that is debounced, or whose attempt is open */
export function refuseUnchangeable({ message, open }: MessageHistory, attempt: number): void {
  const { messageId, workflow, debounce } = message;
  if (debounce !== undefined && attempt === 0) {
    throw conflict(`The message ${quote(messageId)} is debounced; publish with its Svc-Debounce-Id instead.`);
  }
  if (workflow !== undefined) {
    throw badRequest(
      'message_of_run',
      `The message ${quote(messageId)} belongs to the run ${quote(workflow.runId)}, which decides its settings.`,
    );
  }
  if (open !== undefined)
    throw conflict(
      `The message ${quote(messageId)} waits for the completion of an attempt; publish it again.`,
    );
}

export const tooLate = ({
  messageId,
  nextDeliveryTime,
}: {
  readonly messageId: string;
  readonly nextDeliveryTime: number;
}): HttpError =>
  conflict(
    `The message ${quote(messageId)} is due at ${new Date(nextDeliveryTime).toISOString()}; it can be changed until ${clockMarginMs / secondMs} seconds before that, or while it waits in a line.`,
  );

export const otherQueue = (messageId: string): HttpError =>
  conflict(
    `The timeout of the message ${quote(messageId)} can no longer go from 30 seconds or less to more, or back: it has its turn in a queue, or waits in a line.`,
  );
