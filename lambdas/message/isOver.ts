import { isFinal, type AttemptState } from './message.ts';

/** The part of a message's history that decides whether it is over. */
interface Course {
  readonly attempts: readonly { readonly state: AttemptState }[];
  /** The end that came from outside; undefined for a message without one. */
  readonly end: unknown;
}

/** Whether no further attempt of a message is made: it was ended, or an attempt was recorded after which none follows. */
export const isOver = ({ attempts, end }: Course): boolean => end !== undefined || attempts.some(isFinal);
