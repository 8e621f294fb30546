/**
 * The signature that an endpoint of a URL group has besides the service's own, in a header and a form that its receiver knows already:
 * HMAC-SHA-256 of the body. Its secrets are derived, like signing keys, and never stored.
 */
import { randomBytes, randomInt } from 'node:crypto';
import * as z from 'zod/mini';
import { signatureEncodings } from '../shared/bounds.ts';
import { derive, secretMark, secretsOf, type MasterSecret } from './credentials.ts';

/** A secret: its generation, and the mark of the master secret that it is derived from. */
const version = { generation: z.number(), master: z.string() };

const fields = {
  /** Names the endpoint to the derivation of its secrets, and finds it again when it was renamed. */
  id: z.string(),
  header: z.string(),
  encoding: z.enum(signatureEncodings),
  prefix: z.optional(z.string()),
  ...version,
  /** Secrets that were replaced, the newest first, each until a time in Unix milliseconds. */
  replaced: z.optional(z.array(z.object({ ...version, until: z.number() }))),
};
export const endpointSignature = z.object(fields);
export type EndpointSignature = Readonly<z.infer<typeof endpointSignature>>;

/** The signature as a message has it: as it was read at `readAt` (Unix milliseconds). */
export const messageSignature = z.object({ ...fields, readAt: z.number() });
export type MessageSignature = Readonly<z.infer<typeof messageSignature>>;

type Version = Pick<EndpointSignature, 'generation' | 'master'>;

/** Starts the secrets of an endpoint at random, so that they differ from those of all earlier endpoints. */
export const firstVersion = ({ current }: MasterSecret) => ({
  id: randomBytes(9).toString('base64url'),
  generation: randomInt(1, 2 ** 48),
  master: secretMark(current),
});

/** Whether a secret is derived from the newest master secret. One that is not is lost when the overlap of the two ends. */
export const isUpToDate = ({ current }: MasterSecret, { master }: Version): boolean =>
  secretMark(current) === master;

/** Derives a secret of an endpoint. The newest master secret replaces one that is gone; the receiver does not know what is derived from it. */
export function endpointSecret(
  secret: MasterSecret,
  accountId: string,
  id: string,
  { generation, master }: Version,
): string {
  const from = secretsOf(secret).find((one) => secretMark(one) === master) ?? secret.current;
  return derive(from, `endpoint ${id}`, accountId, generation).toString('base64url');
}
