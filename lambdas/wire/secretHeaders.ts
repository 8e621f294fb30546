/**
 * Headers that contain credentials, judged by name or value. Answers to tokens that may not write show `…`
 * instead, and the console shows them on request. Deliveries have the real values.
 */
import { isRedacted } from '../options/redaction.ts';

const secret =
  /(^|[-_])(auth|authori[sz]ation|authentication|cookie2?|credentials?|jwt|pass(word|phrase|wd)?|pwd|secret|session|token|bypass|key)($|[-_])|apikey|accesskey/;
/** Names with "key" that are not secrets. */
const plainKey =
  /(idempotency|flow-control|fair|partition|routing|ordering|surrogate|cache|message|websocket)[-_]key/;

/** A setting such as `Svc-Callback-Forward-Authorization` counts as the header that it forwards. */
export function isSecretHeader(header: string, value: string): boolean {
  const name = header.toLowerCase().replace(/^.*-forward-/, '');
  return (
    ((secret.test(name) && !plainKey.test(name)) || /^(basic|bearer) +\S/i.test(value)) && !isRedacted(value)
  );
}

/**
 * Masks credentials in the header lists of a record, at any depth.
 *
 * @param textOf returns the text to show for other values
 */
export function masked(
  of: object,
  textOf = (text: string) => text,
  isHeaders = false,
): Record<string, unknown> {
  const shown = (value: unknown, name: string): unknown => {
    if (Array.isArray(value)) return value.map((one) => shown(one, name));
    if (typeof value === 'object' && value !== null) return masked(value, textOf, /headers?$/i.test(name));
    if (typeof value !== 'string') return value;
    if (!isHeaders) return textOf(value);
    return isSecretHeader(name, value) ? '…' : value;
  };
  return Object.fromEntries(Object.entries(of).map(([name, value]) => [name, shown(value, name)]));
}
