/**
 * The signature of a URL group's endpoint, in addition to the service's own: HMAC-SHA-256 of the body, in a
 * header and a form that the receiver already knows. The secrets are derived, like signing keys.
 */
import { randomBytes, randomInt } from 'node:crypto';
import * as z from 'zod/mini';
import type { Readable } from '../options/option.ts';
import { signatureEncodings } from '../shared/bounds.ts';
import { derive, secretMark, secretsOf, type MasterSecret } from './credentials.ts';

const version = { generation: z.number(), master: z.string() };

const fields = {
  /** The endpoint's id for the derivation. It stays the same when the endpoint is renamed. */
  id: z.string(),
  header: z.string(),
  encoding: z.enum(signatureEncodings),
  prefix: z.optional(z.string()),
  ...version,
  /** Replaced secrets, newest first, each valid until a time. */
  replaced: z.optional(z.array(z.object({ ...version, until: z.number() }))),
};
export const endpointSignature = z.object(fields);
export type EndpointSignature = Readable<z.infer<typeof endpointSignature>>;

/** A message's signature, as the group had it at `readAt`. */
export const messageSignature = z.object({ ...fields, readAt: z.number() });
export type MessageSignature = Readable<z.infer<typeof messageSignature>>;

type Version = Pick<EndpointSignature, 'generation' | 'master'>;

/** Random, so that an endpoint's secrets differ from those of earlier endpoints. */
export const firstVersion = ({ current }: MasterSecret) => ({
  id: randomBytes(9).toString('base64url'),
  generation: randomInt(1, 2 ** 48),
  master: secretMark(current),
});

/** Whether a secret is still known after the master secret's overlap ends. */
export const isUpToDate = ({ current }: MasterSecret, { master }: Version): boolean =>
  secretMark(current) === master;

/**
 * The secret of an endpoint. If its master secret is gone, another secret is derived from the newest one,
 * which the receiver does not know.
 */
export function endpointSecret(
  secret: MasterSecret,
  accountId: string,
  id: string,
  { generation, master }: Version,
): string {
  const from = secretsOf(secret).find((one) => secretMark(one) === master) ?? secret.current;
  return derive(from, `endpoint ${id}`, accountId, generation).toString('base64url');
}
