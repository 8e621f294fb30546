import { endpointSecret, firstVersion, isUpToDate } from '../account/endpointSecrets.ts';
import { masterSecret } from '../account/secrets.ts';
import { type MasterSecret, secretMark } from '../account/credentials.ts';
import { settings } from '../aws/settings.ts';
import { badField, quote } from '../error/httpError.ts';
import type { EndpointSignature } from '../account/endpointSecrets.ts';
import { isGatewayHeader, isOwnHeader, isTraceHeader } from '../request/forwarding.ts';
import { defaultPrefix } from '../request/dialect.ts';
import { shownUrl } from '../shared/urlCredentials.ts';
import type { addedEndpoints } from '../wire/requests.ts';
import type { ShownGroup, EndpointSecrets } from '../wire/urlGroupAnswers.ts';
import type * as z from 'zod/mini';
import type { ChangedGroup, Endpoint } from './urlGroup.ts';

type Given = NonNullable<z.infer<typeof addedEndpoints>['endpoints'][number]['signature']>;

/** How many replaced secrets stay valid. A header has one value for each, and one for the current secret. */
const mostReplaced = 3;

const headerForm = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}$/;
/** Visible ASCII without the comma, which separates a header's values. */
const prefixForm = /^[!-+\--~]{1,32}$/;

const bodyHeaders = ['content-type', 'content-encoding', 'user-agent'];

/** Returns who else sets a header, if anyone does. */
function setterOf(header: string): string | undefined {
  const name = header.toLowerCase();
  const dialects = [defaultPrefix, ...settings.headerPrefixes].map((prefix) => `${prefix.toLowerCase()}-`);
  if ([...dialects, 'webhook-'].some((start) => name.startsWith(start))) return 'the service';
  if (isTraceHeader([name, ''])) return 'the trace';
  if (isOwnHeader(name)) return 'the connection';
  if (isGatewayHeader(name)) return 'a gateway';
  return bodyHeaders.includes(name) ? 'the message' : undefined;
}

/** Reads a signature's settings, and makes its first secret. @throws HttpError 400 */
export async function readSignature(
  field: string,
  { header, encoding, prefix }: Given,
): Promise<EndpointSignature> {
  if (!headerForm.test(header)) {
    throw badField(
      `${field}.header is ${quote(header)}; allowed is the name of an HTTP header of up to 64 characters, such as X-Acme-Signature.`,
    );
  }
  const setter = setterOf(header);
  if (setter !== undefined) {
    throw badField(
      `${field}.header is ${quote(header)}, which ${setter} sets; allowed is another name, such as X-Acme-Signature.`,
    );
  }
  if (prefix !== undefined && !prefixForm.test(prefix)) {
    throw badField(
      `${field}.prefix is ${quote(prefix)}; allowed are 1 to 32 visible ASCII characters without a comma, such as sha256=.`,
    );
  }
  return { ...firstVersion(await masterSecret()), header, encoding, prefix };
}

const overlapEnd = ({ replaced = [] }: EndpointSignature): number =>
  Math.max(0, ...replaced.map(({ until }) => until));

export const describeSignature = (signature: EndpointSignature): string => {
  const { header, encoding, prefix } = signature;
  const end = overlapEnd(signature);
  const overlap = end === 0 ? '' : `, replaced secrets until ${new Date(end).toISOString()}`;
  return `${header}: ${prefix ?? ''}${encoding}${overlap}`;
};

export function shownSignature(
  signature: EndpointSignature,
  secret: MasterSecret,
  time: number,
): ShownGroup['endpoints'][number]['signature'] {
  const { header, encoding, prefix } = signature;
  const end = overlapEnd(signature);
  return {
    header,
    encoding,
    prefix,
    overlapEndsAt: end > time ? end : undefined,
    mustRotate: isUpToDate(secret, signature) ? undefined : true,
  };
}

/** Makes a signature's next secret. @param overlapMs how long the old one stays valid */
export function rotated(
  { generation, master, replaced = [], ...rest }: EndpointSignature,
  secret: MasterSecret,
  time: number,
  overlapMs: number,
): EndpointSignature {
  const all = [{ generation, master, until: time + overlapMs }, ...replaced];
  return {
    ...rest,
    generation: generation + 1,
    master: secretMark(secret.current),
    replaced: all.filter(({ until }) => until > time).slice(0, mostReplaced),
  };
}

export async function newSecrets({ before, after }: ChangedGroup): Promise<EndpointSecrets['endpoints']> {
  const secret = await masterSecret();
  const versionOf = ({ signature }: Endpoint): string => `${signature?.id} ${signature?.generation}`;
  const known = new Set(before?.endpoints.map(versionOf));
  return (after?.endpoints ?? []).flatMap((endpoint) => {
    const { url, name, signature } = endpoint;
    if (signature === undefined || known.has(versionOf(endpoint))) return [];
    const signingSecret = endpointSecret(secret, after?.accountId ?? '', signature.id, signature);
    return [{ url: shownUrl(url), name, signingSecret }];
  });
}
