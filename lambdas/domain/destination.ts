import { addressOfHost, isReachable, type AllowedDestinations } from './addresses.ts';
import { badRequest, forbidden, quote } from './httpError.ts';

/** Where a message is addressed to. */
export type Destination =
  { readonly kind: 'url'; readonly url: string } | { readonly kind: 'group'; readonly name: string };

const groupName = /^[A-Za-z0-9._-]+$/;
const allowed =
  'a URL that starts with http:// or https://, or the name of a URL group (letters, digits, ".", "_", "-")';

/**
 * Reads a destination from the raw path, byte for byte. Two things that happen to URLs on their way are undone: a
 * scheme whose slashes were collapsed (`https:/`), and a destination that is percent-encoded as a whole
 * (`https%3A%2F%2F…`), which is decoded once.
 *
 * @throws HttpError 400
 */
export function parseDestination(raw: string): Destination {
  if (raw === '') throw badRequest(`The destination is missing; allowed is ${allowed}.`);
  const text = /^https?%3a/i.test(raw) ? decodeOnce(raw) : raw;
  const scheme = /^(https?):\/{0,2}/i.exec(text);
  if (scheme !== null) {
    return {
      kind: 'url',
      url: parseUrl('The destination', `${scheme[1] ?? ''}://${text.slice(scheme[0].length)}`),
    };
  }
  if (groupName.test(text)) return { kind: 'group', name: text };
  throw badRequest(`The destination is ${quote(text)}; allowed is ${allowed}.`);
}

function decodeOnce(raw: string): string {
  try {
    return decodeURIComponent(raw);
  } catch {
    throw badRequest(`The destination ${quote(raw)} is percent-encoded, but not correctly.`);
  }
}

/**
 * A URL that can be delivered to, as it was written: only what cannot stand in an HTTP request (spaces, non-ASCII,
 * a fragment) is encoded or cut. Scheme and host are what the URL standard makes of them.
 *
 * @param field what the error's text calls it
 * @throws HttpError 400
 */
export function parseUrl(field: string, text: string): string {
  const refuse = (problem: string): Error =>
    badRequest(
      `${field} is ${quote(text)}: ${problem}. Allowed is a URL that starts with http:// or https://.`,
    );
  const [, authority = '', target = ''] = /^(https?:\/\/[^/?#\\]*)([^#]*)/i.exec(text) ?? [];
  if (authority === '') throw refuse('it has another form');
  if (target.startsWith('\\')) throw refuse('it has a backslash behind the host');
  if (/[\s\p{C}]/u.test(authority)) throw refuse('its host has a space or a control character');

  let parsed: URL;
  try {
    parsed = new URL(authority);
    decodeURIComponent(parsed.username + parsed.password);
  } catch {
    throw refuse('its user, host or port cannot be read');
  }
  const credentials =
    parsed.username === '' && parsed.password === '' ? '' : `${parsed.username}:${parsed.password}@`;
  return `${parsed.protocol}//${credentials}${parsed.host}${encodeTarget(target)}`;
}

/** Encodes what may not stand in an HTTP request target, and nothing else. */
const encodeTarget = (target: string): string =>
  target.replace(/[^\x21-\x7e]+/gu, (run) => encodeURIComponent(run.toWellFormed()));

/** A destination as an HTTP client needs it. */
export interface Target {
  readonly protocol: 'http:' | 'https:';
  /** A name, or an address without brackets. */
  readonly hostname: string;
  readonly port: number;
  /** `host` or `host:port`, as it stands in the URL. */
  readonly host: string;
  /** What stands in the request line: path and query, byte for byte. */
  readonly path: string;
  /** `user:password` when the URL has them. */
  readonly credentials: string | undefined;
}

/** Takes apart a URL that {@link parseUrl} gave. */
export function targetOf(url: string): Target {
  const parsed = new URL(url);
  const secure = parsed.protocol === 'https:';
  const rest = /^https?:\/\/[^/?]*(.*)$/s.exec(url)?.[1] ?? '';
  return {
    protocol: secure ? 'https:' : 'http:',
    hostname: addressOfHost(parsed.hostname) ?? parsed.hostname,
    port: parsed.port === '' ? (secure ? 443 : 80) : Number(parsed.port),
    host: parsed.host,
    path: rest.startsWith('/') ? rest : `/${rest}`,
    credentials:
      parsed.username === '' && parsed.password === ''
        ? undefined
        : `${decodeURIComponent(parsed.username)}:${decodeURIComponent(parsed.password)}`,
  };
}

/** What a deployment refuses to deliver to. */
export interface DestinationRules {
  readonly allowed: AllowedDestinations;
  /** `host[:port]` of the service's own APIs. */
  readonly ownHosts: readonly string[];
}

/**
 * Refuses what can be seen to be unsafe without asking the DNS: addresses that are not public, however they are
 * spelled, `localhost`, and the service itself. Names are checked when a delivery connects.
 *
 * @param field what the error's text calls it
 * @throws HttpError 403
 */
export function refuseUnsafe(field: string, url: string, rules: DestinationRules): void {
  const { hostname, port } = targetOf(url);
  const name = hostname.toLowerCase().replace(/\.$/, '');
  const authority = name.includes(':') ? `[${name}]` : name;
  if (
    rules.ownHosts.some(
      (own) => (own === authority && (port === 80 || port === 443)) || own === `${authority}:${port}`,
    )
  ) {
    throw forbidden(
      `${field} is ${quote(url)}, which is this service itself; messages to it would go in circles.`,
    );
  }
  if (rules.allowed.hosts.has(name)) return;
  const address = addressOfHost(hostname);
  const unsafe =
    address === undefined
      ? name === 'localhost' || name.endsWith('.localhost')
      : !isReachable(address, rules.allowed);
  if (unsafe) {
    throw forbidden(`${field} is ${quote(url)}, which is not a public address; this deployment refuses it.`);
  }
}
