/**
 * Accounts' certificates for TLS, read from Secrets Manager when first needed, and again from time to time.
 * Keys never appear in errors or log lines.
 */
import { createPrivateKey, type KeyObject } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { createSecureContext, rootCertificates, type SecureContext } from 'node:tls';
import {
  GetSecretValueCommand,
  SecretsManagerClient,
  SecretsManagerServiceException,
} from '@aws-sdk/client-secrets-manager';
import { isServerError, isThrottlingError, isTransientError } from '@smithy/core/retry';
import { clientOptions } from '../../aws/clientOptions.ts';
import { isSdkError, prepareClient } from '../../aws/functionClient.ts';
import { settings } from '../../aws/settings.ts';
import { minuteMs, now } from '../../shared/clock.ts';
import { recentlyUsed } from '../../shared/recentlyUsed.ts';
import { remembered, type Remembered } from '../../table/remembered.ts';
import { certificatesIn } from '../../value/pem.ts';
import type { TlsIdentity } from '../../account/account.ts';

/** A new version of a secret is used after this time at the latest. */
const lifetimeMs = 5 * minuteMs;

/** How many secrets (at most 64 KB each), and contexts made from them, a process keeps. */
const mostKept = 200;

const isMissing = ({ name }: Error): boolean => name === 'ResourceNotFoundException';

const client = prepareClient(
  'Secrets',
  new SecretsManagerClient({ ...clientOptions('quick') }),
  // A secret that does not exist is the account's mistake, not an outage.
  isMissing,
);

/** The certificates cannot be used. The message is a sentence. */
class Unusable extends Error {}

interface Secret {
  readonly text?: string;
  readonly fault?: string;
}

const idOf = (name: string): string => settings.tlsSecrets.replace('*', name);

const isPassing = (error: unknown): boolean =>
  isSdkError(error) && [isServerError, isThrottlingError, isTransientError].some((is) => is(error));

async function read(name: string): Promise<Secret> {
  const id = idOf(name);
  try {
    const { SecretString } = await client.send(new GetSecretValueCommand({ SecretId: id }));
    return SecretString === undefined
      ? { fault: `${id} is binary; allowed is text.` }
      : { text: SecretString };
  } catch (error) {
    // AWS had a temporary error, so the job is retried.
    if (!(error instanceof SecretsManagerServiceException) || isPassing(error)) throw error;
    if (isMissing(error)) return { fault: `${id} does not exist.` };
    // The account's owner reads this, and must not see the names of the operator's roles.
    const reason = error.message.includes('arn:') ? error.name : error.message;
    return { fault: `${id} could not be read: ${reason}` };
  }
}

const kept = <V>(values: Map<string, V>, key: string, make: () => V): V =>
  recentlyUsed(values, key, make, () => true, mostKept);

const secrets = new Map<string, Remembered<Secret>>();

/** `renewed`: read again if the last read was more than ten seconds ago. */
type Reading = keyof Remembered<Secret>;

async function textOf(what: string, name: string | undefined, reading: Reading): Promise<string | undefined> {
  if (name === undefined) return undefined;
  const secret = kept(secrets, name, () =>
    remembered({ name: `the secret ${idOf(name)}`, lifetimeMs, read: () => read(name) }),
  );
  const { text, fault } = await secret[reading]();
  if (fault !== undefined) throw new Unusable(`The ${what} ${name} cannot be used: ${fault}`);
  return text;
}

/** Reads certificates. @throws Unusable */
function certificatesOf(what: string, name: string, text: string) {
  const found = certificatesIn(text);
  if (found.length === 0)
    throw new Unusable(`The ${what} ${name} cannot be used: ${idOf(name)} has no certificate in PEM.`);
  return found.map(({ pem, certificate }, index) => {
    if (certificate === undefined)
      throw new Unusable(
        `The ${what} ${name} cannot be used: certificate ${index + 1} in ${idOf(name)} cannot be read.`,
      );
    return { pem, certificate };
  });
}

const keyBlock = /-----BEGIN ((?:\w+ )?PRIVATE KEY)-----[^]*?-----END \1-----/;

function parseKey(pem: string): KeyObject | undefined {
  try {
    return createPrivateKey(pem);
  } catch {
    // Without OpenSSL's error, which could quote the text.
    return undefined;
  }
}

interface Identity {
  readonly cert: string;
  readonly key: string;
  readonly validFrom: number;
  readonly validTo: number;
}

function parseIdentity(name: string, text: string): Identity {
  const unusable = (fault: string): Unusable =>
    new Unusable(`The TLS identity ${name} cannot be used: ${fault}`);
  const chain = certificatesOf('TLS identity', name, text);
  const [own] = chain;
  const pem = keyBlock.exec(text)?.[0];
  if (own === undefined || pem === undefined) throw unusable(`${idOf(name)} has no private key in PEM.`);
  if (/ENCRYPTED/.test(pem))
    throw unusable(`the key in ${idOf(name)} has a passphrase; allowed is one without.`);
  const key = parseKey(pem);
  if (key === undefined) throw unusable(`the key in ${idOf(name)} cannot be read.`);
  if (!own.certificate.checkPrivateKey(key))
    throw unusable(`the key in ${idOf(name)} does not match the first certificate.`);
  return {
    cert: chain.map((one) => one.pem).join('\n'),
    key: pem,
    validFrom: Date.parse(own.certificate.validFrom),
    validTo: Date.parse(own.certificate.validTo),
  };
}

/**
 * Node's default certificate authorities. They must be listed, because a context with additional authorities
 * trusts only those.
 */
function publicAuthorities(): readonly string[] {
  const extra = process.env['NODE_EXTRA_CA_CERTS'];
  return extra === undefined || !existsSync(extra)
    ? rootCertificates
    : [...rootCertificates, readFileSync(extra, 'utf8')];
}

interface Context {
  readonly secureContext: SecureContext;
  readonly identity: Identity | undefined;
}

interface Texts {
  readonly ca: string | undefined;
  readonly identity: string | undefined;
}

function makeContext({ ca = '', identity = '' }: TlsIdentity, texts: Texts): Context {
  const authorities =
    texts.ca === undefined ? undefined : certificatesOf('certificate authority', ca, texts.ca);
  const own = texts.identity === undefined ? undefined : parseIdentity(identity, texts.identity);
  try {
    const secureContext = createSecureContext({
      ...(own !== undefined && { cert: own.cert, key: own.key }),
      ...(authorities !== undefined && {
        ca: [...publicAuthorities(), ...authorities.map(({ pem }) => pem)],
      }),
    });
    return { secureContext, identity: own };
  } catch (error) {
    // TLS refuses weak keys and signatures.
    const names = [identity, ca].filter((name) => name !== '').join(' and ');
    throw new Unusable(`TLS cannot use ${names}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** By account and names. Each has the texts from which the context was made. */
const contexts = new Map<string, { readonly texts: Texts; readonly context: Context }>();

function contextOf(accountId: string, entry: TlsIdentity, texts: Texts): Context {
  const key = [accountId, entry.ca ?? '', entry.identity ?? ''].join(' ');
  const known = contexts.get(key)?.texts;
  if (known?.ca !== texts.ca || known?.identity !== texts.identity) contexts.delete(key);
  return kept(contexts, key, () => ({ texts, context: makeContext(entry, texts) })).context;
}

const dayOfTime = (time: number): string => new Date(time).toISOString().slice(0, 19).replace('T', ' ');

function checkValidity(name: string, { validFrom, validTo }: Identity): void {
  const time = now();
  if (time >= validFrom && time <= validTo) return;
  const when =
    time > validTo
      ? `expired at ${dayOfTime(validTo)} UTC`
      : `is not valid before ${dayOfTime(validFrom)} UTC`;
  throw new Unusable(`The TLS identity ${name} cannot be used: its certificate ${when}.`);
}

async function usableContext(
  accountId: string,
  entry: TlsIdentity,
  reading: Reading,
): Promise<SecureContext> {
  const [ca, identity] = await Promise.all([
    textOf('certificate authority', entry.ca, reading),
    textOf('TLS identity', entry.identity, reading),
  ]);
  const context = contextOf(accountId, entry, { ca, identity });
  if (context.identity !== undefined) checkValidity(entry.identity ?? '', context.identity);
  return context.secureContext;
}

/**
 * Returns the same context until a secret changes.
 *
 * @returns a sentence as `fault` if the certificates cannot be used
 * @throws temporary errors of Secrets Manager
 */
export async function tlsContextOf(
  accountId: string,
  entry: TlsIdentity,
): Promise<{ readonly secureContext?: SecureContext; readonly fault?: string }> {
  let fault = '';
  // If the first try fails, the secrets are read again, so that a repaired secret is used soon.
  for (const reading of ['get', 'renewed'] as const) {
    try {
      return { secureContext: await usableContext(accountId, entry, reading) };
    } catch (error) {
      if (!(error instanceof Unusable)) throw error;
      fault = error.message;
    }
  }
  return { fault };
}
