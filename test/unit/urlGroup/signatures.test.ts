import { createHmac } from 'node:crypto';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { imported } from '../../support/imported.ts';
import { minuteMs } from '../../../lambdas/shared/clock.ts';
import { setClockAhead } from '../../support/clockAhead.ts';
import { requestOf, type Fixture } from '../../support/fixture.ts';
import { useFixture } from '../../support/useFixture.ts';

let fixture: Fixture;
useFixture((opened) => {
  fixture = opened;
});
const lambdas = imported(async () => ({
  ...(await import('../../../lambdas/urlGroup/endpoints.ts')),
  ...(await import('../../../lambdas/urlGroup/rotateSignatures.ts')),
  ...(await import('../../../lambdas/account/endpointSecrets.ts')),
  ...(await import('../../../lambdas/account/credentials.ts')),
}));
beforeEach(async () => {
  await fixture.drain();
});

const requestFor = (name: string, body: object) => ({
  name,
  body: Buffer.from(JSON.stringify(body)),
  prefix: 'Svc',
  host: 'api.example.com',
});

const signature = { header: 'X-Acme-Signature', encoding: 'hex' };

async function open(name: string, settings: object | null = signature) {
  const inbox = fixture.receiver.inbox();
  const added = await lambdas.addEndpoints(
    fixture.account,
    requestFor(name, { endpoints: [{ url: inbox.url, name: 'acme', signature: settings }] }),
  );
  const rotate = async (overlap: string) => {
    const request = requestFor(name, { endpoints: [{ name: 'acme' }], overlap });
    const { body } = await lambdas.rotateSignatures(fixture.account, request);
    return body.endpoints[0]?.signingSecret ?? '';
  };
  const headerOf = async () => (await inbox.received(1))[0]?.headers['x-acme-signature'];
  return { inbox, secret: added.body.endpoints?.[0]?.signingSecret ?? '', rotate, headerOf };
}

const publish = (name: string, config: Readonly<Record<string, string>> = {}) =>
  fixture.publishRequest(fixture.account, requestOf(name, config));

const hmac = (secret: string): string => createHmac('sha256', secret).update('work').digest('hex');

describe('a message that was published before a rotation', () => {
  it.each<[how: string, overlap: string | undefined, expected: (old: string, next: string) => string]>([
    ['with both secrets once a minute has passed', '1h', (old, next) => `${hmac(next)},${hmac(old)}`],
    ['with the new secret alone after the overlap', '5m', (_old, next) => hmac(next)],
    ['as it was published if its endpoint is removed', undefined, (old) => hmac(old)],
  ])('is signed %s', async (_how, overlap, expected) => {
    const name = `rotated-${overlap}`;
    const { secret, rotate, headerOf } = await open(name);
    await publish(name, { delay: '10m' });
    const next = overlap === undefined ? '' : await rotate(overlap);
    const endpoints = [{ name: 'acme' }];
    if (overlap === undefined)
      await lambdas.removeEndpoints(fixture.account, requestFor(name, { endpoints }));
    setClockAhead(11 * minuteMs);
    await fixture.doJobs();
    expect(await headerOf()).toBe(expected(secret, next));
  });
});

describe('the calls of a delivery', () => {
  it('are the same with and without a signature', async () => {
    // Stopped, so that the process reads what it keeps for some seconds only once.
    vi.spyOn(Date, 'now').mockReturnValue(Date.now());
    const callsOf = async (name: string, settings: object | null = null): Promise<object> => {
      const { inbox } = await open(name, settings);
      fixture.reset();
      await publish(name);
      await fixture.doJobs();
      await inbox.received(1);
      return fixture.operations();
    };
    const { length } = Object.keys(await callsOf('warm'));
    expect(length).toBeGreaterThan(0);
    const plain = await callsOf('plain');
    expect(await callsOf('signed', signature)).toEqual(plain);
  });
});

describe('the secret of an endpoint', () => {
  const first = { current: 'a'.repeat(32) };
  const both = { current: 'b'.repeat(32), previous: first.current };
  const of = (
    secret: Parameters<typeof lambdas.endpointSecret>[0],
    version: { generation: number; master: string },
  ) => lambdas.endpointSecret(secret, 'acct', 'id', version);

  it('stays valid during the overlap of two master secrets, and is lost with the one that it is derived from', () => {
    const version = { generation: 7, master: lambdas.secretMark(first.current) };
    const known = of(first, version);
    expect(of(both, version)).toBe(known);
    expect(of({ current: both.current }, version)).not.toBe(known);
    expect([first, both].map((secret) => lambdas.isUpToDate(secret, version))).toEqual([true, false]);
  });

  it('differs by generation, endpoint, account and master secret', () => {
    const version = { generation: 7, master: lambdas.secretMark(first.current) };
    const all = [
      of(first, version),
      of(first, { ...version, generation: 8 }),
      lambdas.endpointSecret(first, 'acct', 'other', version),
      lambdas.endpointSecret(first, 'other', 'id', version),
      of({ current: both.current }, version),
    ];
    expect(new Set(all).size).toBe(all.length);
  });
});
