/**
 * Secrets in URLs. Only the destination gets `user:password@`; if a client writes the URL back as it was shown, the stored one
 * is kept. The trail, logs, refusals and alarms show URLs without the other secrets, too.
 */
import { quote } from '../error/httpError.ts';

/** Replaces a value that others must not read. */
export const hidden = '…';

/** A URL without credentials, to show and compare. */
export const shownUrl = (url: string): string => url.replace(/^(https?:\/\/)[^/?#\\]*@/i, '$1');

/** Beginnings of paths of chat services (Slack, Discord, Teams, Telegram, Zapier, IFTTT); the rest is a key. */
const webhooks = /(\/(services\/T\w+\/B\w+|webhooks\/\d+|webhookb2|bot\d+|hooks\/catch|with\/key))[/:].*/i;
/** Long segments with letters and digits. */
const keys = /\/(?=[^/]*\d)(?=[^/]*[a-z])[^/]{16,}/gi;

/** Replaces in URLs of a text what may be secret: user and password, the query, and keys in paths. */
export const withoutSecrets = (text: string): string =>
  text.includes('://')
    ? text.replace(
        /([a-z][a-z0-9+.-]*:\/\/)(?:[^/?#\\\s]*@)?([^?#\s]*)([?#]\S*)?/gi,
        (_, scheme: string, path: string, query?: string) =>
          scheme + path.replace(webhooks, '$1/…').replace(keys, '/…') + (query === undefined ? '' : '?…'),
      )
    : text;

/** Shows only the origin of a webhook: its whole path may be a key. */
export const shownWebhook = (url: string): string =>
  shownUrl(url).replace(/^(https?:\/\/[^/?#]*).*/is, '$1/…');

export const quoteUrl = (text: string): string => quote(withoutSecrets(text));

/**
 * Keeps the old credentials if the new URL lacks only them.
 *
 * @param before the replaced URL
 */
export const withKnownCredentials = (url: string, before: string | undefined): string =>
  before !== undefined && shownUrl(before) === url ? before : url;
