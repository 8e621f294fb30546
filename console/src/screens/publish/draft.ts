import type { Answer, messageInAnyState } from '../../../../lambdas/wire/answers.ts';
import { writeOptions } from '../../../../lambdas/options/options.ts';
import { isRedacted } from '../../../../lambdas/options/redaction.ts';
import { textOf } from '../../ui/base64.ts';
import { fromLines, toLines } from '../../ui/headerLines.ts';
import {
  callbacks,
  fieldOfSetting,
  sentAs,
  settingHeaders,
  textsOf,
  type SettingTexts,
} from '../../ui/settingTexts.ts';

/** A message as it is typed into the form. Missing values are empty. */
export interface Draft {
  /** A URL, or the name of a URL group. */
  readonly destination: string;
  readonly contentType: string;
  /** A line for each header: `Name: value`. */
  readonly headers: string;
  readonly body: string;
  /** The body of a copied message if it is not text. It is sent unchanged. */
  readonly bodyBase64?: string | undefined;
  readonly queue: string;
  readonly settings: SettingTexts;
}

export const emptyDraft: Draft = {
  destination: '',
  contentType: 'application/json',
  headers: '',
  body: '',
  queue: '',
  settings: {},
};

const secondMs = 1_000;

/**
 * Makes a draft from a message. Redacted values are hashes.
 *
 * @param now a delay that has passed is left out
 */
export function draftOf(message: Answer<typeof messageInAnyState>, now: number): Draft {
  const { header, bodyBase64, notBefore } = message;
  const text = bodyBase64 === undefined ? message.body : textOf(bodyBase64);
  const isType = (name: string): boolean => name.toLowerCase() === 'content-type';
  const headers = Object.entries(header);
  return {
    destination: message.url,
    contentType: headers.find(([name]) => isType(name))?.[1][0] ?? '',
    headers: toLines(Object.fromEntries(headers.filter(([name]) => !isType(name)))),
    body: text ?? '',
    bodyBase64: text === undefined ? bodyBase64 : undefined,
    queue: message.queueName ?? '',
    settings: textsOf({
      ...writeOptions(message),
      'not-before': notBefore > now ? String(Math.ceil(notBefore / secondMs)) : undefined,
    }),
  };
}

export type Pair = readonly [name: string, value: string];

export function headerPairs({ headers }: Pick<Draft, 'headers'>): readonly Pair[] {
  return linesOf(headers).pairs;
}

function linesOf(text: string): { readonly pairs: readonly Pair[]; readonly problem?: string } {
  try {
    return { pairs: fromLines(text) };
  } catch (error) {
    return { pairs: [], problem: error instanceof Error ? error.message : String(error) };
  }
}

/** Whether a header is a setting, which the destination does not get. */
export const isSetting = (name: string): boolean => /^svc-/i.test(name);

/** Mistakes, by the field or setting. All others are found and explained by the API. */
export type Problems = Readonly<Record<string, string>>;

export function problemsOf(draft: Draft): Problems {
  const problems: Record<string, string> = {};
  const { pairs, problem } = linesOf(draft.headers);
  const hidden = pairs.find(([, value]) => isRedacted(value));
  const replace = 'is shown only as its hash. Enter the value itself.';
  if (draft.destination.trim() === '') {
    problems['destination'] =
      'The destination is missing: a URL that starts with http:// or https://, the ARN of a function, queue, topic or bus in AWS, pull:<name>, or the name of a URL group.';
  }
  if (problem !== undefined) problems['headers'] = problem;
  else if (hidden !== undefined) problems['headers'] = `The value of ${hidden[0]} ${replace}`;
  if (isRedacted(draft.body)) problems['body'] = `The body ${replace}`;
  else if (/\bjson\b/i.test(draft.contentType) && draft.body !== '') {
    const wrong = jsonProblem(draft.body);
    if (wrong !== undefined) {
      problems['body'] =
        `The content type is ${draft.contentType}, but the body is not JSON: ${wrong}. Correct it, or change the content type.`;
    }
  }
  return problems;
}

function jsonProblem(text: string): string | undefined {
  try {
    JSON.parse(text);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message.replace(/\.$/, '') : String(error);
  }
}

/** Finds the field that an error of the API is about. @param texts the texts of settings */
export function fieldOf(sentence: string, texts: SettingTexts = {}): string | undefined {
  const [setting] = /svc-[\w-]+/i.exec(sentence) ?? [];
  if (setting !== undefined) {
    const field = fieldOfSetting(setting, sentence) ?? 'headers';
    // A callback's setting may have been typed as a header.
    const isOfCallback = callbacks.some((callback) => field.startsWith(`${callback}-`));
    return isOfCallback && !texts[field] ? 'headers' : field;
  }
  if (/^The destination|URL group/.test(sentence)) return 'destination';
  if (/^The (name of the )?queue/.test(sentence)) return 'queue';
  if (/^The (body|message)/.test(sentence)) return 'body';
  return undefined;
}

interface PublishRequest {
  /** The encoded path, from `v2/`. */
  readonly path: string;
  readonly headers: readonly Pair[];
  readonly query: readonly Pair[];
  readonly body?: string | undefined;
  readonly bodyBase64?: string | undefined;
}

export function requestOf(draft: Draft): PublishRequest {
  const { body, bodyBase64, queue, contentType } = draft;
  const hasBody = body !== '' || bodyBase64 !== undefined;
  const { headers, query } = sentAs([
    ...settingHeaders(draft.settings),
    ...headerPairs(draft).map(([name, value]): Pair => [
      isSetting(name) ? name : `Svc-Forward-${name}`,
      value,
    ]),
  ]);
  return {
    path: `v2/${queue === '' ? 'publish' : `enqueue/${encodeURIComponent(queue)}`}/${inPath(draft.destination.trim())}`,
    headers: [...(hasBody && contentType !== '' ? [['Content-Type', contentType] as const] : []), ...headers],
    query,
    ...(bodyBase64 !== undefined ? { bodyBase64 } : body === '' ? {} : { body }),
  };
}

/** Writes a destination into a path. It is encoded if proxies or browsers might change it. */
const inPath = (destination: string): string =>
  /^https?:\/\/[\w.:/~-]+$/.test(destination) && !/[^:]\/\/|\/\./.test(destination)
    ? destination
    : encodeURIComponent(destination);
