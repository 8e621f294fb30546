import { Sha256 } from '@smithy/core/checksum';
import { HttpRequest } from '@smithy/core/transport';
import { SignatureV4 } from '@smithy/signature-v4';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { signer } from '../../lambdas/aws/signer.ts';
import { sampleOf } from '../support/sample.ts';

const headersOf = (headers: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));

describe('a signature', () => {
  const words = fc.string({ unit: 'grapheme', maxLength: 20 });
  const name = fc.stringMatching(/^[a-z][a-z0-9-]{0,20}$/);
  const body = fc.oneof(
    fc.constant(undefined),
    fc.string({ unit: 'grapheme', maxLength: 2_000 }),
    fc.uint8Array({ maxLength: 2_000 }),
  );
  const requests = fc.record({
    method: fc.constantFrom('POST', 'PUT', 'GET', 'DELETE'),
    // The SDK makes paths of segments that it has encoded.
    path: fc
      .array(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 10 }), { maxLength: 4 })
      .map((segments) => `/${segments.map(encodeURIComponent).join('/')}`)
      .filter((path) => !/\/\.{1,2}(\/|$)/.test(path)),
    query: fc.dictionary(name, fc.oneof(words, fc.array(words, { minLength: 1, maxLength: 3 })), {
      maxKeys: 3,
    }),
    // Values of headers are characters that HTTP lets pass.
    headers: fc.dictionary(
      name.map((text) => `x-amz-${text}`),
      fc.stringMatching(/^[!-~]([ -~]*[!-~])?$/),
      { maxKeys: 4 },
    ),
    body,
  });
  const credentials = fc.record(
    {
      accessKeyId: fc.stringMatching(/^[A-Z0-9]{16,20}$/),
      secretAccessKey: fc.stringMatching(/^[A-Za-z0-9/+]{40}$/),
      sessionToken: fc.stringMatching(/^[A-Za-z0-9/+=]{1,200}$/),
    },
    { requiredKeys: ['accessKeyId', 'secretAccessKey'] },
  );
  const scope = fc.record({
    region: fc.constantFrom('eu-central-1', 'us-east-1'),
    service: fc.constantFrom('dynamodb', 'sqs', 'scheduler', 'secretsmanager'),
    date: fc.date({ min: new Date('2020-01-01'), max: new Date('2060-01-01'), noInvalidDate: true }),
  });

  it('is the one that the SDK’s own signer makes', async () => {
    await fc.assert(
      fc.asyncProperty(requests, credentials, scope, async (parts, identity, { region, service, date }) => {
        const request = () =>
          new HttpRequest({
            ...parts,
            protocol: 'https:',
            hostname: `${service}.${region}.amazonaws.com`,
            headers: {
              host: `${service}.${region}.amazonaws.com`,
              'content-type': 'application/x-amz-json-1.0',
              'content-length': '1',
              'amz-sdk-request': 'attempt=1; max=4',
              'x-amzn-trace-id': 'Root=1-6737c1a1-2f6b6d0e4b7a8c9d0e1f2a3b;Sampled=0',
              ...parts.headers,
            },
          });
        const sdk = new SignatureV4({
          credentials: identity,
          region,
          service,
          sha256: Sha256,
          uriEscapePath: true,
          applyChecksum: false,
        });
        const own = signer({ credentials: () => Promise.resolve(identity), region, service });
        const expected = await sdk.sign(request(), { signingDate: date });
        const signed = await own.sign(request(), { signingDate: date });
        expect(headersOf(signed.headers)).toEqual(headersOf(expected.headers));
        const { headers: _, ...rest } = signed;
        const { headers: __, ...expectedRest } = expected;
        expect(rest).toEqual(expectedRest);
      }),
      { numRuns: sampleOf(3_000) },
    );
  });

  // https://docs.aws.amazon.com/general/latest/gr/signature-v4-test-suite.html: post-vanilla and post-vanilla-query.
  it.each([
    [{}, '5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b'],
    [{ Param1: 'value1' }, '28038455d6de14eafc1f9222cf5aa6f1a96197d7deb8263271d420d138af7f11'],
  ])('is the one of AWS’s test suite, with the query %j', async (query, signature) => {
    const own = signer({
      credentials: () =>
        Promise.resolve({
          accessKeyId: 'AKIDEXAMPLE',
          secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
        }),
      region: 'us-east-1',
      service: 'service',
    });
    const request = new HttpRequest({
      method: 'POST',
      path: '/',
      query,
      headers: { host: 'example.amazonaws.com' },
    });
    const { headers } = await own.sign(request, { signingDate: '2015-08-30T12:36:00Z' });
    expect(headersOf(headers)).toEqual({
      host: 'example.amazonaws.com',
      'x-amz-date': '20150830T123600Z',
      authorization: `AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, SignedHeaders=host;x-amz-date, Signature=${signature}`,
    });
  });
});

describe('a signer', () => {
  const identity = { accessKeyId: 'A', secretAccessKey: 'B' };

  it('leaves the request as it is, so that a retry can sign it again', async () => {
    const request = new HttpRequest({ method: 'POST', headers: { host: 'localhost' }, body: '{}' });
    const own = signer({
      credentials: () => Promise.resolve(identity),
      region: 'eu-central-1',
      service: 'sqs',
    });
    const at = (signingDate: string) => own.sign(request, { signingDate });
    const first = await at('2026-11-22T10:00:00Z');
    const second = await at('2026-11-22T10:00:01Z');
    expect(request.headers).toEqual({ host: 'localhost' });
    expect(first.headers['x-amz-date']).toBe('20261122T100000Z');
    expect(second.headers['x-amz-date']).toBe('20261122T100001Z');
  });

  it('signs with the credentials of the moment', async () => {
    const keys = ['first', 'second'];
    const own = signer({
      credentials: () => Promise.resolve({ ...identity, accessKeyId: keys.shift() ?? 'none' }),
      region: 'eu-central-1',
      service: 'sqs',
    });
    const request = new HttpRequest({ method: 'POST', headers: { host: 'localhost' } });
    const used = [await own.sign(request), await own.sign(request)].map(
      ({ headers }) => headers['Authorization'],
    );
    expect(used).toEqual([
      expect.stringContaining('Credential=first/'),
      expect.stringContaining('Credential=second/'),
    ]);
  });

  it('refuses a body that is a stream', async () => {
    const own = signer({
      credentials: () => Promise.resolve(identity),
      region: 'eu-central-1',
      service: 'sqs',
    });
    const request = new HttpRequest({ method: 'POST', headers: {}, body: new ReadableStream() });
    await expect(own.sign(request)).rejects.toThrow('Only a request whose body is at hand can be signed.');
  });
});
