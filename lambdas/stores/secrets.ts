/** The deployment's secrets, in Secrets Manager: operators change them there, without redeploying. */
import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import * as z from 'zod/mini';
import { minuteMs, now, secondMs } from '../domain/clock.ts';
import { parseMasterSecret, parseSecretJson } from '../domain/masterSecret.ts';
import { settings } from '../settings.ts';

const client = new SecretsManagerClient({
  maxAttempts: 5,
  requestHandler: { connectionTimeout: 1_000, requestTimeout: 4_000 },
});

/** A secret as a process knows it. */
interface Secret<T> {
  /** As it was read at most `lifetimeMs` ago. */
  readonly get: () => Promise<T>;
  /**
   * Reads it again, for when it seems to be out of date; not more often than every ten seconds.
   *
   * @returns undefined when it was read a moment ago
   * @throws when it cannot be read; what was known is known still
   */
  readonly renewed: () => Promise<T | undefined>;
}

const shortestLifetimeMs = 10 * secondMs;

function secret<T>(id: string, lifetimeMs: number, parse: (text: string) => T): Secret<T> {
  let known: { readonly value: Promise<T>; readonly readAt: number } | undefined;

  async function read(): Promise<T> {
    const { SecretString } = await client.send(new GetSecretValueCommand({ SecretId: id }));
    if (SecretString === undefined) throw new Error(`The secret ${id} has no text.`);
    return parse(SecretString);
  }

  function readAnew(): Promise<T> {
    const value = read().catch((error: unknown) => {
      if (known?.value === value) known = undefined;
      throw error;
    });
    known = { value, readAt: now() };
    return value;
  }

  /** What is known stays known when it cannot be read again. */
  async function renew(): Promise<T> {
    const before = known;
    try {
      return await readAnew();
    } catch (error) {
      known ??= before && { ...before, readAt: now() };
      throw error;
    }
  }

  const isYoung = (lifetime: number): boolean => known !== undefined && now() - known.readAt < lifetime;
  return {
    get: () => (known !== undefined && isYoung(lifetimeMs) ? known.value : readAnew()),
    renewed: async () => (isYoung(shortestLifetimeMs) ? undefined : renew()),
  };
}

const master = secret(settings.masterSecretId, 5 * minuteMs, parseMasterSecret);

/** What every token and signing key is derived from. */
export const masterSecret = master.get;
/** The same, for a token that does not verify: it may be of a master secret that is newer than what is known. */
export const renewedMasterSecret = master.renewed;

const credentials = z.object({
  username: z.string().check(z.minLength(1)),
  password: z.string().check(z.minLength(16)),
});
export type ManagementCredentials = z.infer<typeof credentials>;

function parseCredentials(text: string): ManagementCredentials {
  const read = credentials.safeParse(parseSecretJson(text));
  if (read.success) return read.data;
  throw new Error(
    'The secret of the management API must be {"username", "password"}, the password of at least 16 characters.',
  );
}

const management = secret(settings.managementSecretId, minuteMs, parseCredentials);

/** Who may use the management API. */
export const managementCredentials = management.get;
export const renewedManagementCredentials = management.renewed;
