import {
  addressOfHost,
  isAllowedName,
  isLocalName,
  isOwnHost,
  isReachable,
  plainName,
  type AllowedDestinations,
  type OwnHosts,
} from './addresses.ts';
import { badRequest, forbidden, type HttpError } from '../error/httpError.ts';
import type { Config } from '../shared/config.ts';
import { quoteUrl } from '../shared/urlCredentials.ts';
import { isArn, parseArn, refusingList, whatHasArns, type AllowedArns } from './arns.ts';

import { isPull, longestOfferMs, parsePull } from './pull.ts';

import { isUrl } from './place.ts';

export { isArn, isPull, isUrl, longestOfferMs };

type Destination =
  | { readonly kind: 'url'; readonly url: string }
  | { readonly kind: 'arn' | 'pull'; readonly url: string }
  | { readonly kind: 'group'; readonly name: string };

const scheme = /^(https?):\/{0,2}/i;
const groupName = /^[A-Za-z0-9._-]+$/;
const allowedUrl = 'a URL that starts with http:// or https://';
const allowed = `${allowedUrl}, the ARN of a ${whatHasArns} in AWS, pull:<name>, or the name of a URL group (letters, digits, ".", "_", "-")`;

export const badDestination = (message: string): HttpError => badRequest('destination_invalid', message);

/**
 * Parses the destination in a raw path, byte for byte. Clients and proxies may have merged two slashes
 * (`https:/`) or percent-encoded the whole destination (`https%3A%2F%2F…`); both are undone. An ARN never
 * contains `%`.
 *
 * @throws HttpError 400
 */
export function parseDestination(raw: string): Destination {
  if (raw === '')
    throw badDestination(
      `The destination is missing: a non-empty destination must be provided; allowed is ${allowed}.`,
    );
  const text = /^(https?%3a|pull%3a|arn(:.*%|%3a))/i.test(raw) ? decodeOnce(raw) : raw;
  if (isArn(text)) return { kind: 'arn', url: parseArn('The destination', text) };
  if (isPull(text)) return { kind: 'pull', url: parsePull('The destination', text) };
  if (scheme.test(text)) {
    return { kind: 'url', url: parseUrl('The destination', text.replace(scheme, '$1://')) };
  }
  if (groupName.test(text)) return { kind: 'group', name: text };
  throw badDestination(`The destination is ${quoteUrl(text)}; allowed is ${allowed}.`);
}

function decodeOnce(raw: string): string {
  try {
    return decodeURIComponent(raw);
  } catch {
    throw badDestination('The destination is percent-encoded, but not correctly.');
  }
}

/**
 * Parses a URL or an ARN.
 *
 * @throws HttpError 400
 */
export const parseAddress = (field: string, text: string): string =>
  isArn(text) ? parseArn(field, text) : parseUrl(field, text);

/**
 * Parses a destination of a message: as {@link parseAddress}, or a name under which clients take messages.
 *
 * @throws HttpError 400
 */
export const parseEndpoint = (field: string, text: string): string =>
  isPull(text) ? parsePull(field, text) : parseAddress(field, text);

/**
 * Parses a URL. It is kept as written, except that spaces and non-ASCII are encoded, a fragment is removed,
 * and scheme and host are normalized.
 *
 * @throws HttpError 400
 */
export function parseUrl(field: string, text: string): string {
  const refuse = (problem: string): Error =>
    badDestination(`${field} is ${quoteUrl(text)}: ${problem}. Allowed is ${allowedUrl}.`);
  const authority = /^https?:\/\/[^/?#\\]*/i.exec(text)?.[0];
  if (authority === undefined) throw refuse('it has another form');
  const target = text.slice(authority.length).replace(/#.*/s, '');
  if (target.startsWith('\\')) throw refuse('it has a backslash behind the host');
  if (/[\s\p{C}]/u.test(authority)) throw refuse('its host has a space or a control character');

  let parsed: URL;
  try {
    parsed = new URL(authority);
    credentialsOf(parsed);
  } catch {
    throw refuse('its user, host or port cannot be read');
  }
  const credentials =
    parsed.username === '' && parsed.password === '' ? '' : `${parsed.username}:${parsed.password}@`;
  return `${parsed.protocol}//${credentials}${parsed.host}${encodeTarget(target)}`;
}

/** Encodes characters that HTTP does not allow in a request's target. */
const encodeTarget = (target: string): string =>
  target.replace(/[^\x21-\x7e]/gu, (character) => encodeURIComponent(character.toWellFormed()));

export interface Target {
  readonly protocol: 'http:' | 'https:';
  /** A name or an address; an IPv6 address without brackets. */
  readonly hostname: string;
  readonly port: number;
  /** `host` or `host:port`, as in the URL. */
  readonly host: string;
  /** Path and query, byte for byte. */
  readonly path: string;
  /** `user:password`, if the URL has them. */
  readonly credentials: string | undefined;
}

/** @param url returned by {@link parseUrl} */
export function targetOf(url: string): Target {
  const parsed = new URL(url);
  const secure = parsed.protocol === 'https:';
  const rest = url.replace(/^https?:\/\/[^/?]*/, '');
  return {
    protocol: secure ? 'https:' : 'http:',
    hostname: addressOfHost(parsed.hostname) ?? parsed.hostname,
    port: parsed.port === '' ? (secure ? 443 : 80) : Number(parsed.port),
    host: parsed.host,
    path: rest.startsWith('/') ? rest : `/${rest}`,
    credentials: credentialsOf(parsed),
  };
}

/**
 * `user:password`, percent-decoded, if the URL has a user or a password.
 *
 * @throws URIError
 */
const credentialsOf = ({ username, password }: URL): string | undefined =>
  username === '' && password === '' ? undefined : decodeURIComponent(`${username}:${password}`);

export interface HostRules {
  readonly allowed: AllowedDestinations;
  readonly own: OwnHosts;
}

/**
 * The destinations to which a restricted token may send. Functions throw HttpError 403 for others; `field` is
 * for the error.
 */
export interface Scope {
  /** The token's id. */
  readonly token: string;
  readonly allows: (url: string) => boolean;
  readonly refuse: (field: string, url: string) => void;
  readonly refuseGroup: (field: string, name: string) => void;
  readonly refuseQueue: (field: string, name: string) => void;
  /** Makes a configuration's ids private to the token. @throws HttpError 400 for limits without a key */
  readonly own: (config: Config) => Config;
  /** Also allows these URLs, such as those of an allowed URL group. */
  readonly withKnown: (urls: readonly string[]) => Scope;
}

export interface DestinationRules extends HostRules {
  readonly arns: AllowedArns;
  readonly scope?: Scope | undefined;
}

/**
 * Refuses an ARN that is not allowed, a URL that {@link refuseSsrf} refuses, or a destination outside the
 * token's scope. All URLs that a request can make the service call are checked here.
 *
 * @throws HttpError 403
 */
export function refuseDestination(field: string, destination: string, rules: DestinationRules): void {
  rules.scope?.refuse(field, destination);
  if (isPull(destination)) return;
  if (!isArn(destination)) {
    refuseSsrf(field, destination, rules);
    return;
  }
  const refusing = refusingList(destination, rules.arns);
  if (refusing === undefined) return;
  throw forbidden(
    'destination_not_allowed',
    `${field} is "${destination}", which ${refusing} does not have.`,
  );
}

/**
 * Refuses destinations that are unsafe regardless of DNS: addresses that are not public (in any spelling),
 * `localhost`, and the service itself. Names are checked again when a delivery connects.
 *
 * @throws HttpError 403
 */
export function refuseSsrf(field: string, url: string, { allowed, own }: HostRules): void {
  const { hostname, port, path } = targetOf(url);
  if (isOwnHost(hostname, port, own, path)) {
    throw forbidden(
      'delivery_loop',
      `${field} is ${quoteUrl(url)}, which is this service itself; messages to it would go in circles.`,
    );
  }
  const name = plainName(hostname);
  if (isAllowedName(name, allowed)) return;
  const address = addressOfHost(hostname);
  const unsafe = address === undefined ? isLocalName(name) : !isReachable(address, allowed);
  if (unsafe) {
    throw forbidden(
      'destination_not_allowed',
      `${field} is ${quoteUrl(url)}, which is not a public address; this deployment refuses it.`,
    );
  }
}
