import { describe, expect, it } from 'vitest';
import { joinLine } from '../../../../lambdas/lane/rules/arrival.ts';
import { formatEntry, type Entry } from '../../../../lambdas/lane/rules/entry.ts';
import { newLane, withLease, type Lane, type LaneKey } from '../../../../lambdas/lane/lane.ts';
import { leave } from '../../../../lambdas/lane/rules/leaving.ts';
import { spill, type Page } from '../../../../lambdas/lane/rules/line.ts';
import { createLanes, type Lanes } from '../../../../lambdas/lane/slots/lanes.ts';
import { noTenants } from '../../../support/noTenants.ts';

const key: LaneKey = { accountId: 'acct', kind: 'queue', name: 'orders' };
const start = 1_700_000_000_000;
const dayMs = 86_400_000;
const entryOf = (number: number): string =>
  formatEntry({ messageId: `msg_${String(number).padStart(26, '0')}`, attempt: 0, queue: 'short' });

class Fixture {
  time = start;
  row: Lane;
  readonly pages = new Map<number, readonly string[]>();
  readonly granted: (readonly string[])[] = [];
  readonly pumps: { readonly dueAt: number; readonly keeps: boolean }[] = [];

  constructor(row: Lane) {
    const { line, pages } = spill(row.line);
    this.row = { ...row, line, version: 1 };
    this.#savePages(pages);
  }

  #savePages(pages: readonly Page[]): void {
    for (const { number, entries } of pages) this.pages.set(number, entries);
  }

  startProcess(): Lanes {
    return createLanes({
      store: {
        ...noTenants,
        load: () => Promise.resolve(this.row),
        save: (lane) => {
          if (lane.version !== this.row.version) return Promise.resolve({ current: this.row });
          this.row = { ...lane, version: lane.version + 1 };
          return Promise.resolve(undefined);
        },
        loadPage: (_key, number) => Promise.resolve(this.pages.get(number) ?? []),
        savePages: (_key, pages) => {
          this.#savePages(pages);
          return Promise.resolve();
        },
      },
      jobs: {
        sendGranted: (_key, granted) => {
          this.granted.push(granted.map(formatEntry));
          return Promise.resolve();
        },
        sendPump: (_key, dueAt, keeps) => {
          this.pumps.push({ dueAt, keeps });
          return Promise.resolve();
        },
      },
      now: () => this.time,
      sleep: () => Promise.resolve(),
      random: () => 0,
    });
  }
}

const lane = newLane(key, start, { parallelism: 1 });
const busy = withLease(lane, entryOf(0), { slots: 1 });

describe('a process with a recently read lane', () => {
  it('reads the lane again before it skips a change as unnecessary, because another process may have changed it', async () => {
    const fixture = new Fixture(lane);
    const [one, other] = [fixture.startProcess(), fixture.startProcess()];
    await one.update(key, (found) => ({ ...found, updatedAt: start + 1 }));
    await other.update(key, (found) => withLease(found, entryOf(1), { slots: 1 }));
    // The process’s copy of the lane has no slot of the message.
    await one.update(key, (found) => leave(found, entryOf(1)));
    expect(fixture.row.leases.size).toBe(0);
  });
});

describe('a pump', () => {
  it('is sent again if the one already sent is due later than the next check', async () => {
    const expiring = withLease(lane, entryOf(0), { slots: 1, until: start + 40_000 });
    const fixture = new Fixture({ ...expiring, pumpAt: start + 900_000 });
    await fixture.startProcess().update(key, (found) => joinLine(found, entryOf(1)));
    expect(fixture.pumps).toContainEqual({ dueAt: start + 40_000, keeps: false });
    expect(fixture.row.pumpAt).toBe(start + 40_000);
  });

  it('is not sent again if the one already sent is due in time', async () => {
    const expiring = withLease(lane, entryOf(0), { slots: 1, until: start + 40_000 });
    const fixture = new Fixture({ ...expiring, pumpAt: start + 30_000 });
    await fixture.startProcess().update(key, (found) => joinLine(found, entryOf(1)));
    expect(fixture.pumps.filter(({ keeps }) => !keeps)).toEqual([]);
  });

  it('is due every three days for a line, so that no message expires in it', async () => {
    const fixture = new Fixture(busy);
    const join = (number: number) =>
      fixture.startProcess().update(key, (found) => joinLine(found, entryOf(number)));
    await join(1);
    await join(2);
    const first = { dueAt: start + 3 * dayMs, keeps: true };
    expect(fixture.pumps).toEqual([first]);
    fixture.time = first.dueAt;
    await join(3);
    expect(fixture.pumps).toEqual([first, { dueAt: start + 6 * dayMs, keeps: true }]);
  });
});

describe('a lane that gets much capacity at once', () => {
  it('grants slots to all waiting attempts in order, a hundred with each write', async () => {
    const entries = Array.from({ length: 250 }, (_, index) => entryOf(index + 1));
    const fixture = new Fixture(entries.reduce((found, entry) => joinLine(found, entry), busy));
    await fixture.startProcess().update(key, (found) => ({ ...found, parallelism: 1_000 }));
    // Runs the pump that was sent because there is still capacity.
    while (fixture.row.pumpAt > 0 && fixture.granted.flat().length < entries.length) {
      fixture.time += 1_000;
      await fixture.startProcess().update(key, (found) => found);
    }
    expect(fixture.granted.map(({ length }) => length)).toEqual([100, 100, 50]);
    expect(fixture.granted.flat()).toEqual(entries);
    expect(fixture.pumps).toContainEqual({ dueAt: start, keeps: false });
  });
});

describe('a grant', () => {
  const admitted = async (kind: LaneKey['kind'], carrier: Entry['queue']) => {
    const place: LaneKey = { ...key, kind };
    const fixture = new Fixture(newLane(place, start, { parallelism: 1 }));
    const entry = formatEntry({ messageId: `msg_${'1'.repeat(26)}`, attempt: 0, queue: carrier });
    await fixture.startProcess().update(place, (found) => joinLine(found, entry));
    const lease = fixture.row.leases.get(entry);
    if (lease === undefined) throw new Error('It got no grant.');
    return lease;
  };

  it('of a queue gives a slot that ends with its message', async () => {
    expect((await admitted('queue', 'short')).until).toBeUndefined();
  });

  // A minute for the job to arrive, the longest attempt, and ten seconds.
  it.each([
    { kind: 'key', carrier: 'short', lastsMs: 100_000 },
    { kind: 'key', carrier: 'long', lastsMs: 910_000 },
    { kind: 'account', carrier: 'short', lastsMs: 100_000 },
    { kind: 'account', carrier: 'long', lastsMs: 910_000 },
  ] as const)(
    'of a $kind gives a slot for $lastsMs ms if its job uses the $carrier queue',
    async ({ kind, carrier, lastsMs }) => {
      expect((await admitted(kind, carrier)).until).toBe(start + lastsMs);
    },
  );
});
