/** The state of one thing in the source and the target, and the action that copies it. */
import type { Api } from './api.ts';

export type Kind = 'queue' | 'URL group' | 'flow-control key' | 'schedule';

interface Found {
  readonly kind: Kind;
  readonly name: string;
}

/**
 * Does a step. It can be repeated.
 *
 * @returns the difference that remains although the target accepted it
 */
export type Act = () => Promise<string | undefined>;

export type Step = Found &
  (
    | { readonly state: 'same'; readonly note?: string }
    | { readonly state: 'skipped'; readonly note: string }
    | { readonly state: 'create' | 'switch'; readonly note: string; readonly act: Act }
    /** The note names the differences. */
    | { readonly state: 'differs'; readonly note: string; readonly act: Act }
  );

export interface Sides {
  readonly source: Api;
  readonly target: Api;
}

/** The prefix of settings in requests, which every compatible API knows. */
export const prefix = 'Upstash';

/**
 * The name of the setting that a header of the service sets, such as `Retries` for `Svc-Retries`; undefined for other headers.
 */
export const settingNameOf = (header: string): string | undefined =>
  /^(?:upstash|svc)-(.+)$/i.exec(header)?.[1];

/** Removes credentials from a URL, because not all APIs show them. Other texts are unchanged. */
export function comparableUrl(text: string): string {
  if (!URL.canParse(text)) return text;
  const url = new URL(text);
  url.username = '';
  url.password = '';
  url.hash = '';
  return url.href;
}

/** The names of the fields whose values differ as JSON. Fields that the source lacks are not compared. */
export const differences = (
  source: Readonly<Record<string, unknown>>,
  target: Readonly<Record<string, unknown>>,
): readonly string[] =>
  Object.entries(source).flatMap(([field, value]) =>
    value === undefined || JSON.stringify(value) === JSON.stringify(target[field]) ? [] : [field],
  );
