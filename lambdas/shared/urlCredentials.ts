/**
 * A URL's credentials, `user:password@`. Only the destination gets them. Answers and records show the URL without them. If a
 * client writes the shown URL back, the stored one is kept.
 */
import { type Config, callbackScopes } from './config.ts';
import { quote } from '../error/httpError.ts';

/** A URL without credentials, to show and compare. */
export const shownUrl = (url: string): string => url.replace(/^(https?:\/\/)[^/?#\\]*@/i, '$1');

/** Removes user, password, query and fragment from URLs, for logging. */
export const withoutSecrets = (text: string): string =>
  text.includes('://')
    ? text.replace(/([a-z][a-z0-9+.-]*:\/\/)(?:[^/?#\\\s"'<>]*@)?([^?#\s"'<>]*)(?:[?#][^\s"'<>]*)?/gi, '$1$2')
    : text;

export const quoteUrl = (text: string): string => quote(shownUrl(text));

/**
 * Keeps the old credentials if the new URL lacks only them.
 *
 * @param before the replaced URL
 */
export const withKnownCredentials = (url: string, before: string | undefined): string =>
  before !== undefined && shownUrl(before) === url ? before : url;

export const shownConfig = (config: Config): Config =>
  new Map(
    [...config].map(([name, values]) => [
      name,
      callbackScopes.some((scope) => scope === name) ? values.map((url) => shownUrl(url.trim())) : values,
    ]),
  );
