import { createHmac } from 'node:crypto';
import type { MasterSecret } from '../../account/credentials.ts';
import { endpointSecret, type EndpointSignature } from '../../account/endpointSecrets.ts';
import type { Header } from '../../shared/headers.ts';

interface Signed {
  readonly accountId: string;
  readonly body: Uint8Array;
  readonly signedAt: number;
}

/** Makes the signature header of an endpoint: one value for each valid secret, newest first. */
export function endpointSignatureHeader(
  signature: EndpointSignature,
  master: MasterSecret,
  { accountId, body, signedAt }: Signed,
): Header {
  const { id, header, encoding, prefix = '', replaced = [] } = signature;
  const good = [signature, ...replaced.filter(({ until }) => signedAt < until)];
  const values = good.map((version) => {
    const key = endpointSecret(master, accountId, id, version);
    return `${prefix}${createHmac('sha256', key).update(body).digest(encoding)}`;
  });
  return [header.toLowerCase(), values.join(',')];
}
