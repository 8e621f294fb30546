import type { HeaderLists } from '../../../shared/headers.ts';
import type { FailedAttempt, History, RunMessage } from './runMessage.ts';
import { beginningOfText, longestCutText } from './shownTexts.ts';

export interface Cut {
  readonly textBytes: number;
  readonly hasHeaders: boolean;
}

/** The ways to shorten a run's log, the longest first. Each leaves room for a redacted text's hash. */
export const cuts: readonly [Cut, ...Cut[]] = [
  { textBytes: Infinity, hasHeaders: true },
  { textBytes: longestCutText, hasHeaders: true },
  { textBytes: 512, hasHeaders: true },
  { textBytes: 80, hasHeaders: false },
];

/** @param keptHeader the header with the names of steps, if it is always kept */
export function cutter({ textBytes, hasHeaders }: Cut, keptHeader?: string) {
  const text = <T extends string | undefined>(whole: T): T | string =>
    whole === undefined ? whole : beginningOfText(whole, textBytes);
  const headers = <T extends HeaderLists | undefined>(all: T): T | HeaderLists => {
    if (all === undefined || hasHeaders) return all;
    return Object.fromEntries(Object.entries<readonly string[]>(all).filter(([name]) => name === keptHeader));
  };
  const failures = (all: readonly FailedAttempt[]): readonly FailedAttempt[] =>
    all.map((one) => ({
      ...one,
      error: text(one.error),
      body: text(one.body),
      headers: headers(one.headers),
    }));
  return { text, headers, failures };
}

export function cutMessages(
  messages: readonly RunMessage[],
  cut: Cut,
  keptHeader: string,
): readonly RunMessage[] {
  if (cut === cuts[0]) return messages;
  const { text, headers, failures } = cutter(cut, keptHeader);
  const history = <H extends History>(one: H): H => ({ ...one, failures: failures(one.failures) });
  return messages.map(({ step, details, callback, ...message }) => ({
    ...history(message),
    step: { ...step, out: text(step.out), headers: headers(step.headers) },
    // A result's own details are short, and always kept. They replace those of the call, wait or invoke
    // before it.
    details:
      message.kind === 'result' || details === undefined
        ? details
        : {
            ...details,
            callHeaders: headers(details.callHeaders),
            callBody: text(details.callBody),
            callResponseBody: text(details.callResponseBody),
            callResponseHeaders: headers(details.callResponseHeaders),
            invokedWorkflowRunBody: text(details.invokedWorkflowRunBody),
            invokedWorkflowRunHeaders: headers(details.invokedWorkflowRunHeaders),
          },
    callback: callback && history(callback),
  }));
}
