import { beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { api, makeToken, ok, query } from '../support/api.ts';
import { clockStage } from '../support/clockStage.ts';
import { checkAnswer } from '../support/contract.ts';
import { eventually } from '../support/eventually.ts';
import { service } from '../support/publish.ts';
import { expectRefusal } from '../support/refusals.ts';
import type { Stage } from '../support/stage.ts';
import { useReceiver } from '../support/useReceiver.ts';

const receiver = useReceiver();
const minuteMs = 60_000;
const 東京 = '顧客 東京';

const group = z.looseObject({ count: z.number(), firstFailedAt: z.number(), lastFailedAt: z.number() });
const failing = z.object({
  count: z.optional(z.number()),
  groups: z.array(group),
  errors: z.array(group),
  labels: z.array(group),
  urls: z.array(group),
});
type Filters = Parameters<typeof query>[0];

// Elsewhere the clock is real.
describe.runIf(service.target === 'local')('the messages that fail and will be retried', () => {
  let stage: Stage;
  let down: string;
  let broken: string;
  let begunAt: number;
  const by = () => ({ url: stage.url, token: stage.token });

  const counted = async (filters: Filters = {}, token = stage.token) => {
    const path = `/v2/messages/count${query({ by: 'failure', ...filters })}`;
    const answer = await api('GET', path, { ...by(), token });
    checkAnswer('GET /v2/messages/count', answer);
    return failing.parse(answer.json);
  };
  const send = (destination: string, labels: string) =>
    ok(api('POST', '/v2/batch', { ...by(), body: [{ destination, headers: { 'Svc-Label': labels } }] }));

  beforeAll(async () => {
    stage = await clockStage();
    down = receiver.inbox((_delivery, response) => response.writeHead(503).end('full')).url;
    broken = receiver.inbox((_delivery, response) =>
      response
        .writeHead(500)
        .end(`{"error":"Error","message":"order ${Math.floor(Math.random() * 1e6)} is not known"}`),
    ).url;
    await send(down, `${東京},eu`);
    const first = await eventually(
      () => counted(),
      ({ count }) => count === 1,
    );
    begunAt = first.groups[0]?.firstFailedAt ?? NaN;
    await stage.advance(10 * minuteMs);
    for (let sent = 0; sent < 3; sent += 1) await send(broken, 東京);
    await send('https://later.example.com/', 'delayed').then(() => undefined);
    await eventually(
      () => counted({ url: broken }),
      ({ count }) => count === 3,
    );
  });

  it('are grouped by what they have in common, with the first and the last failure', async () => {
    const { count, groups, errors, labels, urls } = await counted({ url: [down, broken] });
    expect(count).toBe(4);
    const { host } = new URL(down);
    expect(groups).toMatchObject([
      { host, responseStatus: 500, count: 3 },
      { host, responseStatus: 503, count: 1, firstFailedAt: begunAt },
    ]);
    // Its second retry was made 160 s after the first failure.
    expect(groups[1]?.lastFailedAt).toBeGreaterThan(begunAt + 2 * minuteMs);
    expect(groups[0]?.firstFailedAt).toBeGreaterThan(begunAt + 9 * minuteMs);
    expect(errors).toMatchObject([
      { error: 'Error: order … is not known', count: 3 },
      { error: 'full', count: 1 },
    ]);
    expect(labels).toMatchObject([
      { label: 東京, count: 4, firstFailedAt: begunAt },
      { label: 'eu', count: 1 },
    ]);
    expect(urls).toMatchObject([
      { url: broken, count: 3 },
      { url: down, count: 1 },
    ]);
  });

  it('are found by the reason, the status and a label, in the count and in the list', async () => {
    for (const [filters, expected] of [
      [{ error: 'Error: order … is not known' }, 3],
      [{ error: 'full', responseStatus: 503 }, 1],
      [{ error: 'full', responseStatus: 500 }, 0],
      [{ responseStatus: 500 }, 3],
      [{ label: 東京 }, 4],
      [{ label: '東京' }, 0],
    ] as const satisfies [Filters, number][]) {
      expect([filters, (await counted(filters)).count]).toEqual([filters, expected]);
      const list = await ok(api('GET', `/v2/messages${query({ ...filters, state: 'RETRY' })}`, by()));
      expect(z.object({ messages: z.array(z.unknown()) }).parse(list).messages).toHaveLength(expected);
    }
  });

  it('are those of the account, and shown to tokens that may read', async () => {
    expect((await counted({ label: 東京 }, stage.readOnlyToken)).count).toBe(4);
    const other = await clockStage();
    expect(await counted({}, other.token)).toEqual({
      count: 0,
      groups: [],
      errors: [],
      labels: [],
      urls: [],
    });
    const { token } = await makeToken({ scope: 'publish' }, by());
    await expectRefusal(api('GET', '/v2/messages/count?by=failure', { ...by(), token }), 403, /publish/);
  });

  it.each([
    ['by=failure&by=state', 'by is'],
    ['by=failure&order=due', '"order" is not a filter here'],
    ['by=failure&responseStatus=1000', 'responseStatus is "1000"; allowed is a whole number from 0 to 999.'],
    ['by=failure&error=', 'error is empty'],
    ['error=x', '"error" is not a filter here'],
  ])('are refused with %s', async (text, error) => {
    await expectRefusal(api('GET', `/v2/messages/count?${text}`, by()), 400, error);
  });

  it('are no longer counted once they have ended', async () => {
    await ok(api('DELETE', `/v2/messages${query({ url: broken })}`, by()));
    await eventually(
      () => counted({ label: 東京 }),
      ({ count }) => count === 1,
    );
  });
});
