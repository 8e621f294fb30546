/**
 * Credentials in a URL: `user:password@`. Only the destination gets them, with each delivery. Answers and records show the URL
 * without them, because others read these. A client may write back a URL as it was shown; the stored one stays then.
 */
import { type Config, callbackScopes } from './config.ts';
import { quote } from '../error/httpError.ts';

/** A URL without its credentials, as it is shown and compared. */
export const shownUrl = (url: string): string => url.replace(/^(https?:\/\/)[^/?#\\]*@/i, '$1');

/** Cuts all URLs in a text to what may be logged: without user, password, query and fragment, which may be secret. */
export const withoutSecrets = (text: string): string =>
  text.includes('://')
    ? text.replace(/([a-z][a-z0-9+.-]*:\/\/)(?:[^/?#\\\s"'<>]*@)?([^?#\s"'<>]*)(?:[?#][^\s"'<>]*)?/gi, '$1$2')
    : text;

/** Quotes a URL in an error, or a text that should have been one. */
export const quoteUrl = (text: string): string => quote(shownUrl(text));

/**
 * Makes the URL that replaces another: it keeps the credentials where it lacks only them.
 *
 * @param before the URL that is replaced
 */
export const withKnownCredentials = (url: string, before: string | undefined): string =>
  before !== undefined && shownUrl(before) === url ? before : url;

/** Makes a configuration with the URLs of callbacks as they are shown. */
export const shownConfig = (config: Config): Config =>
  new Map(
    [...config].map(([name, values]) => [
      name,
      callbackScopes.some((scope) => scope === name) ? values.map((url) => shownUrl(url.trim())) : values,
    ]),
  );
