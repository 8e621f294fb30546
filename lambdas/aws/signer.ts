/** Signs requests to AWS (Signature Version 4) with aws4: the SDK's own signer makes the same signature for three times the CPU. */
import type { AwsCredentialIdentityProvider, HttpRequest, RequestSigner } from '@smithy/types';
import aws4 from 'aws4';

interface SignedAs {
  /** Asked at each request: credentials expire in time. */
  readonly credentials: AwsCredentialIdentityProvider;
  readonly region: string;
  /** AWS's name of the service in signatures, such as `dynamodb`. */
  readonly service: string;
}

/** `20261122T184657Z` */
function timestamp(time: number): string {
  const second = Math.floor(time / 1_000);
  if (last.second !== second) {
    const text = `${new Date(time).toISOString().slice(0, 19).replaceAll(/[-:]/g, '')}Z`;
    last = { second, text };
  }
  return last.text;
}
let last: { readonly second: number; readonly text: string } = { second: Number.NaN, text: '' };

function pathOf({ path, query = {} }: HttpRequest): string {
  const pairs = Object.entries(query).flatMap(([name, values]) =>
    [values ?? ''].flat().map((value) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`),
  );
  return pairs.length === 0 ? path : `${path}?${pairs.join('&')}`;
}

/** @throws Error for a body that is sent piece by piece: its hash is a part of the signature */
function bodyOf(body: unknown): string | Buffer | undefined {
  if (body === undefined || typeof body === 'string') return body;
  if (!(body instanceof Uint8Array)) throw new Error('Only a request whose body is at hand can be signed.');
  return Buffer.from(body.buffer, body.byteOffset, body.byteLength);
}

/** Makes the signer of one client. aws4 keeps the keys that it derives for a day, a region and a service. */
export const signer = ({ credentials, region, service }: SignedAs): RequestSigner => ({
  sign: async (request, options = {}) => {
    const { accessKeyId, secretAccessKey, sessionToken } = await credentials();
    const date = timestamp(new Date(options.signingDate ?? Date.now()).getTime());
    const { headers } = aws4.sign(
      {
        service,
        region,
        method: request.method,
        path: pathOf(request),
        headers: { ...request.headers, 'x-amz-date': date },
        body: bodyOf(request.body),
      },
      { accessKeyId, secretAccessKey, ...(sessionToken !== undefined && { sessionToken }) },
    );
    // A retry signs the request again: what it is made of stays as it is.
    return Object.assign({}, request, { headers });
  },
});
