import type { Message, OpenAttempt } from '../message/message.ts';
import type { CompletionTimeoutJob } from './job.ts';
import { sendJob } from './send.ts';

type MessageId = Pick<Message, 'accountId' | 'messageId'>;

/** The job that ends an open attempt's time. A later end than its first has another job. */
export const endJobOf = (
  { accountId, messageId }: MessageId,
  { number, until, isOffered }: OpenAttempt,
): CompletionTimeoutJob => ({
  kind: 'completionTimeout',
  accountId,
  messageId,
  attempt: number,
  until: isOffered === false ? until : undefined,
});

export const sendEnd = (message: MessageId, open: OpenAttempt): Promise<void> =>
  sendJob(endJobOf(message, open), open.until);
