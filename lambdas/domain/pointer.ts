import * as z from 'zod/mini';

/**
 * What travels through SQS: which attempt of which message is due. The message itself stays in its row, so that the
 * worker sees a cancelled or finished one for what it is.
 */
export interface Pointer {
  readonly accountId: string;
  readonly messageId: string;
  /** 0 for the first delivery. */
  readonly attempt: number;
  /** Which of the two delivery queues carries it: the short one, or the one for answers that may take long. */
  readonly queue: 'short' | 'long';
}

const shape = z.object({
  accountId: z.string().check(z.minLength(1)),
  messageId: z.string().check(z.minLength(1)),
  attempt: z.int().check(z.nonnegative()),
  queue: z.enum(['short', 'long']),
});

/** @throws Error for what is no pointer */
export const parsePointer = (text: string): Pointer => shape.parse(JSON.parse(text));
export const formatPointer = (pointer: Pointer): string => JSON.stringify(pointer);
