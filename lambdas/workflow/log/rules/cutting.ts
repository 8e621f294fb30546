import type { Header } from '../../../shared/headers.ts';
import type { History, RunMessage } from './runRecord.ts';
import { beginningOfText, longestCutText } from './shownTexts.ts';

export interface Cut {
  /** Bytes kept of each text. */
  readonly textBytes: number;
  readonly hasHeaders: boolean;
}

/** The ways to show a run, fullest first. Each leaves room for a redacted text's hash. */
export const cuts: readonly [Cut, ...Cut[]] = [
  { textBytes: Infinity, hasHeaders: true },
  { textBytes: longestCutText, hasHeaders: true },
  { textBytes: 512, hasHeaders: true },
  { textBytes: 80, hasHeaders: false },
];

type TextCut = <T extends string | undefined>(text: T) => T | string;

export const textCut =
  ({ textBytes }: Cut): TextCut =>
  (text) =>
    text === undefined ? text : beginningOfText(text, textBytes);

/** @param keptHeader the header with the names of steps, which is always kept */
export function cutMessages(
  messages: readonly RunMessage[],
  cut: Cut,
  keptHeader: string,
): readonly RunMessage[] {
  if (cut === cuts[0]) return messages;
  const text = textCut(cut);
  const headers = (all: readonly Header[]): readonly Header[] =>
    cut.hasHeaders ? all : all.filter(([name]) => name === keptHeader);
  const history = <C extends History>(one: C): C => ({
    ...one,
    failures: one.failures.map((failure) => ({
      ...failure,
      error: text(failure.error),
      body: text(failure.body),
      headers: headers(failure.headers),
    })),
  });
  return messages.map((message): RunMessage => {
    const common = { ...history(message), headers: headers(message.headers) };
    switch (common.kind) {
      case 'initial':
        return { ...common, payload: text(common.payload) };
      case 'result':
        return { ...common, out: text(common.out) };
      case 'call': {
        const { response, callback } = common;
        return {
          ...common,
          body: text(common.body),
          response: response && {
            ...response,
            headers: headers(response.headers),
            body: text(response.body),
          },
          callback: callback && history(callback),
        };
      }
      case 'invoke':
        return { ...common, body: text(common.body) };
      case 'plan':
      case 'wait':
        return common;
      default:
        return common satisfies never;
    }
  });
}
