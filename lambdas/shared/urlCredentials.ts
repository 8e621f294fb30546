/**
 * Secrets in URLs. Only the destination gets `user:password@`. If a client sends back a URL as it was shown,
 * the stored credentials are kept. The audit trail, logs, refusals and alarms also hide other secrets in
 * URLs.
 */
import { quote } from '../error/httpError.ts';

/** Shown in place of a secret. */
export const hidden = '…';

/** A URL without credentials, to show and compare. */
export const shownUrl = (url: string): string => url.replace(/^(https?:\/\/)[^/?#\\]*@/i, '$1');

/**
 * How paths of chat services begin (Slack, Discord, Teams, Telegram, Zapier, IFTTT). The rest of the path is
 * a key.
 */
const webhooks = /(\/(services\/T\w+\/B\w+|webhooks\/\d+|webhookb2|bot\d+|hooks\/catch|with\/key))[/:].*/i;
/** Long parts of a path with letters and digits. */
const keys = /\/(?=[^/]*\d)(?=[^/]*[a-z])[^/]{16,}/gi;

/** Hides everything in a text's URLs that may be secret: user and password, the query, and keys in paths. */
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
 * Keeps the stored credentials if the new URL is the same without them.
 *
 * @param before the URL that is replaced
 */
export const withKnownCredentials = (url: string, before: string | undefined): string =>
  before !== undefined && shownUrl(before) === url ? before : url;
