import { randomUUID } from 'node:crypto';
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { imported } from '../../support/imported.ts';
import { newAccount, type Account } from '../../../lambdas/account/account.ts';
import {
  newLane,
  queueLane,
  keyLane,
  circuitLane,
  accountLane,
  type Lane,
} from '../../../lambdas/lane/lane.ts';
import { closedCircuit } from '../../../lambdas/circuit/circuit.ts';
import { newId } from '../../../lambdas/shared/ids.ts';
import { checkMetrics, findPromtool } from '../../support/promtool.ts';
import { useStandIns } from '../../support/useStandIns.ts';

useStandIns();

const lambdas = imported(async () => ({
  ...(await import('../../../lambdas/statistics/metrics.ts')),
  ...(await import('../../../lambdas/lane/store/laneRows.ts')),
  ...(await import('../../../lambdas/deadLetter/sizeRows.ts')),
  ...(await import('../../../lambdas/statistics/store/outcomes.ts')),
  ...(await import('../../../lambdas/aws/dynamodb.ts')),
}));
let calls: string[] = [];

beforeAll(() => {
  lambdas.dynamodb.middlewareStack.add(
    (next, { commandName = '' }) =>
      (args) => {
        calls.push(commandName.replace('Command', ''));
        return next(args);
      },
    { step: 'initialize', name: 'watch' },
  );
});

/** Stopped, so that ages are exact, and no read takes too long. */
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'] });
});
afterEach(() => {
  vi.useRealTimers();
});

const promtool = findPromtool();

const makeAccount = (fields: Partial<Account> = {}): Account =>
  newAccount({ id: randomUUID(), plan: 'paid', region: 'eu-central-1', createdAt: 0, ...fields });

const save = async (lane: Lane): Promise<void> => {
  expect(await lambdas.saveLane(lane)).toBeUndefined();
};

/** Returns entries of messages that were published this number of seconds ago. */
const entries = (...secondsAgo: readonly number[]): readonly string[] =>
  secondsAgo.map((seconds) => `${newId('msg', Date.now() - seconds * 1_000, 8).slice('msg_'.length)}/0s`);

const seriesIn = (text: string): readonly string[] =>
  text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));

function valueIn(text: string, series: string): number {
  const found = seriesIn(text).find((line) => line.startsWith(`${series} `));
  if (found === undefined) throw new Error(`There is no ${series}.`);
  return Number(found.slice(series.length + 1));
}

describe('the metrics of an account', () => {
  it('show what waits, for how long, and what is paused, in flight, down or failed permanently', async () => {
    const account = makeAccount({ limits: { max_queues: 77 } });
    const now = Date.now();
    const line = (front: readonly string[], back: readonly string[] = []) => ({
      front,
      firstPage: 0,
      nextPage: 0,
      back,
    });
    await save({
      ...newLane(queueLane(account.id, 'mail'), now),
      isPaused: true,
      line: line(entries(90, 30), entries(5)),
    });
    await save(newLane(queueLane(account.id, 'idle'), now));
    const key = 'a "quoted" \\ key\nof two lines';
    await save({ ...newLane(keyLane(account.id, key), now), line: line(entries(1, 1)) });
    await save({
      ...newLane(accountLane(account.id), now),
      line: line(entries(2)),
      leases: new Map([['one', { slots: 3, until: now + 60_000 }]]),
    });
    await save({
      ...newLane(circuitLane(account.id, 'down.example.com'), now),
      line: line(entries(7, 7, 7, 7)),
      circuit: { ...closedCircuit, openedAt: now, openUntil: now + 60_000 },
    });
    await lambdas.countIn(account.id, [now + 86_400_000, now + 86_400_000], now);

    const text = await lambdas.readMetrics(account);
    for (const [series, value] of [
      ['svc_messages_waiting', 10],
      ['svc_deliveries_in_flight', 3],
      ['svc_dead_letters', 2],
      ['svc_hosts_down', 1],
      ['svc_limit{limit="max_queues"}', 77],
      ['svc_queue_waiting{queue="mail"}', 3],
      ['svc_queue_paused{queue="mail"}', 1],
      ['svc_queue_waiting{queue="idle"}', 0],
      ['svc_queue_oldest_seconds{queue="idle"}', 0],
      ['svc_queue_paused{queue="idle"}', 0],
      ['svc_flow_control_waiting{key="a \\"quoted\\" \\\\ key\\nof two lines"}', 2],
      ['svc_series_dropped', 0],
    ] as const) {
      expect([series, valueIn(text, series)]).toEqual([series, value]);
    }
    expect(valueIn(text, 'svc_queue_oldest_seconds{queue="mail"}')).toBe(90);
    expect(text).toMatch(/^# HELP svc_messages_waiting .+\n# TYPE svc_messages_waiting gauge$/m);
    if (promtool !== undefined) expect(checkMetrics(promtool, text)).toBe('');
  });

  it('have the age of a line whose first entries are in a page', async () => {
    const account = makeAccount();
    const lane = queueLane(account.id, 'long');
    await lambdas.savePages(lane, [{ number: 4, entries: entries(400, 300) }]);
    const line = { front: [], firstPage: 4, nextPage: 5, back: entries(1) };
    await save({ ...newLane(lane, Date.now()), line });
    const text = await lambdas.readMetrics(account);
    expect(valueIn(text, 'svc_queue_oldest_seconds{queue="long"}')).toBe(400);
    expect(valueIn(text, 'svc_queue_waiting{queue="long"}')).toBe(9);
  });

  it('count the outcomes since midnight, two minutes late, so that a count drops only at midnight', async () => {
    const account = makeAccount();
    const at = (text: string): void => {
      vi.useFakeTimers({ toFake: ['Date'], now: Date.parse(`${text}Z`) });
    };
    at('2026-11-20T23:58:00');
    const counts = {
      steps: new Map(),
      hours: new Map(),
      days: new Map([
        ['2026-11-20', { delivered: 5, failed: 2, cancelled: 1 }],
        ['2026-11-21', { delivered: 1, failed: 0, cancelled: 0 }],
      ]),
      retries: new Map([
        ['2026-11-20', 9],
        ['2026-11-21', 4],
      ]),
    };
    const countedUntil = Array.from({ length: account.shards }, () => Date.now());
    await lambdas.saveOutcomes(account.id, { counts, countedUntil, version: 0 }, Date.now());
    const shown = async (time: string) => {
      at(time);
      const text = await lambdas.readMetrics(account);
      return ['delivered', 'failed', 'cancelled']
        .map((state) => valueIn(text, `svc_messages_total{state="${state}"}`))
        .concat(valueIn(text, 'svc_retries_total'));
    };
    expect(await shown('2026-11-20T23:59:00')).toEqual([5, 2, 1, 9]);
    expect(await shown('2026-11-21T00:01:59')).toEqual([5, 2, 1, 9]);
    expect(await shown('2026-11-21T00:02:01')).toEqual([1, 0, 0, 4]);
  });
});

describe('a scrape', () => {
  it('of a small account cost 41 reads, and one write if messages have ended since the last time', async () => {
    const account = makeAccount();
    await save(newLane(queueLane(account.id, 'mail'), Date.now()));
    await save(newLane(keyLane(account.id, 'tenant'), Date.now()));
    // The first one of a process also reads what another has saved.
    await lambdas.readMetrics(account);
    calls = [];
    await lambdas.readMetrics(account);
    const count = (name: string): number => calls.filter((call) => call === name).length;
    expect(Object.fromEntries(calls.map((name) => [name, count(name)]))).toEqual({
      // Reads the account’s lane, the number of dead letters, and the earlier counts.
      GetItem: 3,
      // Reads the index of the log of each of the eight shards twice, its prompt records, its new messages, and the names of
      // queues, keys and open circuits, and changes of messages.
      Query: 4 * 8 + 4,
      // Reads the queue and the key.
      BatchGetItem: 2,
    });
  });

  it('of an account with very many queues and keys have 1,000 series of the busiest ones, and limited calls', async () => {
    const account = makeAccount();
    const [queues, keys] = [200, 500];
    const name = (number: number): string => `n${String(number).padStart(5, '0')}`;
    const lanes = [
      ...Array.from({ length: queues }, (_, number) => queueLane(account.id, name(number))),
      ...Array.from({ length: keys }, (_, number) => keyLane(account.id, name(number))),
    ].map((key, index): Lane => {
      // Every queue and nine keys of ten have a waiting message.
      const isBusy = key.kind === 'queue' || index % 10 !== 0;
      const line = { front: isBusy ? entries(1) : [], firstPage: 0, nextPage: 0, back: [] };
      return { ...newLane(key, Date.now()), line };
    });
    for (let at = 0; at < lanes.length; at += 100) await Promise.all(lanes.slice(at, at + 100).map(save));
    calls = [];
    const text = await lambdas.readMetrics(account);
    const series = seriesIn(text);
    expect(series.length).toBeGreaterThan(990);
    expect(series.length).toBeLessThanOrEqual(1_000);
    const shown = series.filter((line) => /^svc_(queue|flow)/.test(line)).length;
    expect(valueIn(text, 'svc_series_dropped')).toBe(queues * 3 + keys - shown);
    expect(calls.length).toBeLessThanOrEqual(3 + 8 + 8 + 8 + 20);
    for (const line of series.filter((one) => one.startsWith('svc_flow_control_waiting')))
      expect(line).toMatch(/ 1$/);
    if (promtool !== undefined) expect(checkMetrics(promtool, text)).toBe('');
  });
});

it.skipIf(promtool === undefined)('promtool finds the error in a text', () => {
  expect(checkMetrics(promtool ?? '', 'svc_wrong{queue="a" 1\n')).not.toBe('');
});
