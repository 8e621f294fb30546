import type { Attempt } from './message.ts';
import type { MessageHistory } from './history.ts';

/** The record of an attempt; undefined until there is one. */
export const recordOf = ({ attempts }: MessageHistory, number: number): Attempt | undefined =>
  attempts.find((attempt) => attempt.number === number);

/** Unix milliseconds at which an attempt is due. Ids that are derived from it are the same for each repetition. */
export const dueTimeOf = (history: MessageHistory, number: number): number =>
  recordOf(history, number - 1)?.nextDeliveryAt ?? history.message.notBefore;
