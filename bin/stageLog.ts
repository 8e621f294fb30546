/** The stage's own output: sentences for a terminal, or lines of JSON for log collectors, like those of the functions. */
import { StageError } from '../local/stage/stageError.ts';

export interface StageLog {
  readonly info: (sentence: string) => void;
  readonly error: (error: unknown) => void;
}

/** If the operator can fix an error, only its message is written, otherwise its stack too. */
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
