import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import * as z from 'zod/mini';
import { api, makeToken, ok, query } from '../support/api.ts';
import { clockStage } from '../support/clockStage.ts';
import { checkAnswer } from '../support/contract.ts';
import { eventually } from '../support/eventually.ts';
import { service } from '../support/publish.ts';
import { expectRefusal } from '../support/refusals.ts';
import { startStage, type Stage } from '../support/stage.ts';
import { useReceiver } from '../support/useReceiver.ts';

const receiver = useReceiver();
const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const 東京 = '東京';

const due = z.looseObject({
  messageId: z.string(),
  state: z.string(),
  nextDeliveryTime: z.optional(z.number()),
  completionDeadline: z.optional(z.number()),
});
const page = z.object({
  messages: z.array(due),
  cursor: z.optional(z.string()),
  count: z.optional(z.number()),
  steps: z.optional(z.array(z.object({ from: z.number(), count: z.number() }))),
  isWhole: z.optional(z.boolean()),
});
type Filters = Parameters<typeof query>[0];

const timeOf = (one: z.infer<typeof due>): number => one.nextDeliveryTime ?? one.completionDeadline ?? NaN;

// Elsewhere the clock is real.
describe.runIf(service.target === 'local')('the upcoming messages', () => {
  let stage: Stage;
  const by = () => ({ url: stage.url, token: stage.token });

  const upcoming = async (filters: Filters = {}, token = stage.token) => {
    const answer = await api('GET', `/v2/messages${query({ order: 'due', ...filters })}`, { ...by(), token });
    checkAnswer('GET /v2/messages', answer);
    return page.parse(answer.json);
  };

  async function publish(headers: Readonly<Record<string, string>>, url = 'https://later.example.com/') {
    const item = { destination: url, headers, body: 東京 };
    const [answer] = z
      .array(z.unknown())
      .parse(await ok(api('POST', '/v2/batch', { ...by(), body: [item] })));
    return z.object({ messageId: z.string() }).parse(answer).messageId;
  }

  const change = (messageId: string, body: unknown) =>
    ok(api('PATCH', `/v2/messages/${messageId}`, { ...by(), body }));
  const cancel = (filters: Filters) => ok(api('DELETE', `/v2/messages${query(filters)}`, by()));

  async function pagesOf(filters: Filters, between: (shown: readonly string[]) => Promise<unknown>) {
    const ids: string[] = [];
    let cursor: string | undefined;
    do {
      const one = await upcoming({ ...filters, cursor });
      ids.push(...one.messages.map(({ messageId }) => messageId));
      ({ cursor } = one);
      await between(ids);
    } while (cursor !== undefined);
    return ids;
  }

  beforeAll(async () => {
    stage = await clockStage();
  });

  it('are listed by due time: first attempts, retries, quiet periods and open attempts', async () => {
    const label = { 'Svc-Label': `first,${東京}` };
    const failing = receiver.inbox((_delivery, response) => response.writeHead(503).end());
    const accepting = receiver.inbox((_delivery, response) => response.writeHead(202).end());
    const later = await publish({ ...label, 'Svc-Delay': '30m' });
    const open = await publish({ ...label, 'Svc-Deferred': '20m' }, accepting.url);
    const retried = await publish({ ...label, 'Svc-Retry-Delay': '600000' }, failing.url);
    const debounce = { ...label, 'Svc-Debounce-Id': 東京, 'Svc-Debounce': '5m' };
    const debounced = await publish(debounce);
    const first = await publish({ ...label, 'Svc-Delay': '2m' });
    const order = [first, debounced, retried, open, later];
    const { messages, count, isWhole } = await eventually(
      () => upcoming({ label: 東京 }),
      (found) => found.messages.map(({ messageId }) => messageId).join() === order.join(),
    );
    expect([count, isWhole]).toEqual([5, true]);
    expect(messages).toMatchObject([
      { state: 'CREATED', labels: ['first', 東京] },
      { state: 'CREATED', debounced: true },
      { state: 'RETRY', retried: 1, responseStatus: 503 },
      { state: 'ACTIVE' },
      { state: 'CREATED' },
    ]);
    const [at = 0, , middle = 0, , last = 0] = messages.map(timeOf);
    expect((await upcoming({ label: 東京, from: middle, to: middle })).messages).toHaveLength(1);
    for (const [from, to, expected] of [
      [at, last, 5],
      [at + 1, last, 4],
      [at, last - 1, 4],
      [at + 1, last - 1, 3],
    ] as const) {
      const found = await upcoming({ label: 東京, from, to, steps: 7 });
      expect([found.count, found.messages.length]).toEqual([expected, expected]);
      expect(found.steps).toHaveLength(7);
      expect(found.steps?.reduce((sum, step) => sum + step.count, 0)).toBe(expected);
      expect(found.steps?.[0]?.from).toBe(from);
    }
    expect((await upcoming({ label: 東京, host: new URL(failing.url).host })).count).toBe(2);
    expect((await upcoming({ label: 東京, state: 'RETRY' })).count).toBe(1);
    expect((await upcoming({ label: '京' })).messages).toEqual([]);

    // A publish moves the end of the quiet period, even after the previous end has passed.
    await stage.advance(4 * minuteMs);
    expect(await publish(debounce)).toBe(debounced);
    await stage.advance(2 * minuteMs);
    const [next] = (await upcoming({ label: 東京, from: at + 3 * minuteMs })).messages;
    expect(next).toMatchObject({ messageId: debounced, debounced: true });
    await cancel({ label: 東京 });
    expect(await upcoming({ label: 東京 })).toEqual({ messages: [], count: 0, isWhole: true });
  });

  it('move when they are changed, whichever way', async () => {
    const label = { 'Svc-Label': 'moved' };
    const [near, far] = [
      await publish({ ...label, 'Svc-Delay': '1h' }),
      await publish({ ...label, 'Svc-Delay': '5d' }),
    ];
    expect(await pagesOf({ label: 'moved' }, () => Promise.resolve())).toEqual([near, far]);
    await change(far, { delay: '10m', label: ['moved', 'other'] });
    await change(near, { delay: '2h' });
    const moved = await upcoming({ label: 'moved', count: 1 });
    expect([moved.messages[0]?.messageId, moved.count]).toEqual([far, 2]);
    expect((await upcoming({ label: 'other' })).count).toBe(1);
    await stage.advance(3 * minuteMs);
    await change(near, { delay: '1m' });
    expect((await upcoming({ label: 'moved' })).messages[0]?.messageId).toBe(near);
    await cancel({ label: 'moved' });
  });

  it('are on one page each if they are due in the same millisecond, and messages end in between', async () => {
    const at = String(Math.ceil((Date.now() + 30 * 24 * hourMs) / 1_000));
    const ids: string[] = [];
    for (let sent = 0; sent < 9; sent += 1)
      ids.push(await publish({ 'Svc-Label': 'same', 'Svc-Not-Before': at }));
    expect(await pagesOf({ label: 'same', count: 2 }, () => Promise.resolve())).toEqual(ids.toSorted());
    // After each page, the last message shown and the next one end.
    const shown = await pagesOf({ label: 'same', count: 2 }, (before) =>
      cancel({ messageIds: [before.at(-1) ?? '', ids[before.length + 1] ?? ''].filter(Boolean) }),
    );
    expect(new Set(shown).size).toBe(shown.length);
    const left = (await upcoming({ label: 'same' })).messages.map(({ messageId }) => messageId);
    for (const id of left) expect(shown).toContain(id);
    await cancel({ label: 'same' });
  });

  it('are shown to tokens that may read, and only those of their account', async () => {
    const label = { 'Svc-Label': 'whose' };
    const ids = [
      await publish({ ...label, 'Svc-Delay': '1h' }),
      await publish({ ...label, 'Svc-Delay': '2h' }),
    ];
    const { messages, cursor } = await upcoming({ label: 'whose', count: 1 }, stage.readOnlyToken);
    expect(messages[0]?.messageId).toBe(ids[0]);
    const rest = await upcoming({ label: 'whose', cursor }, stage.readOnlyToken);
    expect(rest.messages[0]?.messageId).toBe(ids[1]);
    const other = await clockStage();
    expect(await upcoming({}, other.token)).toEqual({ messages: [], count: 0, isWhole: true });
    const path = `/v2/messages${query({ order: 'due', cursor })}`;
    await expectRefusal(api('GET', path, { ...by(), token: other.token }), 400, 'cursor is not one');
    await expectRefusal(api('GET', `/v2/messages${query({ cursor })}`, by()), 400, 'cursor is not one');
    const { token } = await makeToken({ scope: 'publish' }, by());
    await expectRefusal(api('GET', '/v2/messages?order=due', { ...by(), token }), 403, /publish/);
    await cancel({ label: 'whose' });
  });

  it('stay the same when the clock steps back', async () => {
    const label = { 'Svc-Label': 'steps' };
    const ids = [
      await publish({ ...label, 'Svc-Delay': '2h' }),
      await publish({ ...label, 'Svc-Delay': '3h' }),
    ];
    expect(await pagesOf({ label: 'steps' }, () => Promise.resolve())).toEqual(ids);
    await stage.step(-hourMs);
    const between = await publish({ ...label, 'Svc-Delay': '210m' });
    const [first = '', last = ''] = ids;
    expect(await pagesOf({ label: 'steps' }, () => Promise.resolve())).toEqual([first, between, last]);
    await change(first, { delay: '9h' });
    expect(await pagesOf({ label: 'steps' }, () => Promise.resolve())).toEqual([between, last, first]);
    await stage.step(hourMs);
    expect(await pagesOf({ label: 'steps' }, () => Promise.resolve())).toEqual([between, last, first]);
    await cancel({ label: 'steps' });
  });

  it('are all counted, and listed once each, where ten thousand wait', async () => {
    const [many, atOnce] = [10_000, 1_000];
    // On the shared stage, other tests advance the clock, and so many messages would become due.
    const shared = stage;
    stage = await startStage();
    onTestFinished(async () => {
      await stage.stop();
      stage = shared;
    });
    const start = Date.now();
    for (let sent = 0; sent < many; sent += atOnce) {
      const body = Array.from({ length: atOnce }, (_, index) => ({
        destination: 'https://later.example.com/',
        headers: { 'Svc-Label': 'many', 'Svc-Delay': `${3_600 + (((sent + index) * 7) % 3_600)}s` },
      }));
      await ok(api('POST', '/v2/batch', { ...by(), body }));
    }
    const {
      count,
      isWhole,
      steps = [],
    } = await eventually(
      () => upcoming({ label: 'many', from: start, to: start + 100 * hourMs, steps: 100, count: 1 }),
      (found) => found.count === many,
    );
    expect([count, isWhole]).toEqual([many, true]);
    expect(steps.reduce((sum, step) => sum + step.count, 0)).toBe(many);
    const times: number[] = [];
    const ids = new Set<string>();
    let cursor: string | undefined;
    for (let pages = 0; pages < 20; pages += 1) {
      const one = await upcoming({ label: 'many', cursor });
      expect(one.messages).toHaveLength(100);
      for (const message of one.messages) ids.add(message.messageId);
      times.push(...one.messages.map(timeOf));
      ({ cursor } = one);
    }
    expect(ids.size).toBe(2_000);
    expect(times).toEqual(times.toSorted((one, other) => one - other));
  });

  it.each([
    [{ order: 'latest' }, 'order is "latest"; allowed are due.'],
    [{ order: 'due', from: 'now' }, 'from is "now"; allowed is a whole number from 0'],
    [{ order: 'due', to: -1 }, 'to is "-1"; allowed is a whole number from 0'],
    [{ order: 'due', from: 5, to: 4 }, 'from is 5, which is after to, 4; allowed is the same or earlier.'],
    [
      { order: 'due', from: 5, to: 9, steps: 101 },
      'steps is "101"; allowed is a whole number from 1 to 100.',
    ],
    [{ order: 'due', from: 5, steps: 4 }, 'steps is given; it is allowed only with from and to.'],
    [
      { order: 'due', messageIds: 'msg_1' },
      'order is due; messageIds, messageId, responseStatus, error are not allowed with it.',
    ],
    [{ order: 'due', label: '' }, 'label is empty'],
    [{ order: ['due', 'due'] }, 'order is given 2 times; allowed is once.'],
    [{ from: 5 }, 'from is given; it is allowed only with order=due.'],
    [{ steps: 5 }, 'steps is given; it is allowed only with order=due.'],
    [{ order: 'due', cursor: 'x' }, 'cursor is not one that this list handed out'],
  ])('are refused for %j', async (filters, error) => {
    await expectRefusal(api('GET', `/v2/messages${query(filters)}`, by()), 400, error);
  });
});
