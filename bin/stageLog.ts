/**
 * The lines that the stage writes itself: sentences for a terminal, or lines of JSON in the form of the functions' own, which
 * collectors of logs read by their level.
 */
import { StageError } from '../local/stage/stageError.ts';

export interface StageLog {
  readonly info: (sentence: string) => void;
  readonly error: (error: unknown) => void;
}

/** Writes an error's sentence alone where the operator can correct the cause, otherwise its stack too. */
export const sentences: StageLog = {
  info: (sentence) => {
    console.log(sentence);
  },
  error: (error) => {
    console.error(error instanceof StageError ? error.message : error);
  },
};

const line = (level: string, message: string, more: object = {}): string =>
  JSON.stringify({ level, message, timestamp: new Date().toISOString(), service: 'svc', ...more });

export const jsonLines: StageLog = {
  info: (sentence) => {
    console.log(line('INFO', sentence));
  },
  error: (error) => {
    const { message, stack } = error instanceof Error ? error : new Error(String(error));
    console.error(line('ERROR', message, error instanceof StageError ? {} : { stack }));
  },
};
