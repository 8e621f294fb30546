import { describe, expect, it } from 'vitest';
import { enter, joinLine } from '../../../../lambdas/lane/rules/arrival.ts';
import { formatEntry, type Entry } from '../../../../lambdas/lane/rules/entry.ts';
import { newLane, waitingIn, withLease, type Lane, type LaneKey } from '../../../../lambdas/lane/lane.ts';
import { leave } from '../../../../lambdas/lane/rules/leaving.ts';
import { spill } from '../../../../lambdas/lane/rules/line.ts';
import { LanesInMemory } from '../../../support/lanesInMemory.ts';

const key: LaneKey = { accountId: 'acct', kind: 'queue', name: 'orders' };
const start = 1_700_000_000_000;
const dayMs = 86_400_000;
const entryOf = (number: number): string =>
  formatEntry({ messageId: `msg_${String(number).padStart(26, '0')}`, attempt: 0, queue: 'short' });

/** Returns lanes in memory with this lane in the table. */
function memoryWith(lane: Lane): LanesInMemory {
  const memory = new LanesInMemory();
  const { line, pages } = spill(lane.line);
  memory.table.put({ ...lane, line, version: 1 });
  memory.table.putPages(lane, pages);
  return memory;
}

const grantedIn = ({ sent }: LanesInMemory): readonly string[] =>
  sent.map(({ admitted }) => formatEntry(admitted));

const lane = newLane(key, start, { parallelism: 1 });
const busy = withLease(lane, entryOf(0), { slots: 1 });

describe('a process with a recently read lane', () => {
  it('reads the lane again before it skips a change as unnecessary, because another process may have changed it', async () => {
    const memory = memoryWith(lane);
    const [one, other] = [memory.lanes, memory.startProcess()];
    await one.update(key, (found) => ({ ...found, updatedAt: start + 1 }));
    await other.update(key, (found) => withLease(found, entryOf(1), { slots: 1 }));
    // The process’s copy of the lane has no slot of the message.
    await one.update(key, (found) => leave(found, entryOf(1)));
    expect(memory.lane(key).leases.size).toBe(0);
  });
});

describe('a pump', () => {
  const expiring = withLease(lane, entryOf(0), { slots: 1, until: start + 40_000 });

  it.each([
    { pumpAt: start + 900_000, sent: [start + 40_000] },
    { pumpAt: start + 30_000, sent: [] },
  ])(
    'is sent again only if the one already sent is due later than the next check',
    async ({ pumpAt, sent }) => {
      const memory = memoryWith({ ...expiring, pumpAt });
      await memory.lanes.update(key, (found) => joinLine(found, entryOf(1)));
      expect(memory.pumps.flatMap(({ dueAt, keeps }) => (keeps ? [] : [dueAt]))).toEqual(sent);
      expect(memory.lane(key).pumpAt).toBe(sent[0] ?? pumpAt);
    },
  );

  it('is due every three days for a line, so that no message expires in it', async () => {
    const memory = memoryWith(busy);
    const join = (number: number) =>
      memory.startProcess().update(key, (found) => joinLine(found, entryOf(number)));
    await join(1);
    await join(2);
    const first = { dueAt: start + 3 * dayMs, keeps: true };
    expect(memory.pumps).toEqual([first]);
    memory.time = first.dueAt;
    await join(3);
    expect(memory.pumps).toEqual([first, { dueAt: start + 6 * dayMs, keeps: true }]);
  });

  it('that runs before its lane is written does not keep the attempt in the line from starting', async () => {
    const dead = withLease({ ...lane, kind: 'key' }, entryOf(0), { slots: 1, until: start + 5 });
    const memory = memoryWith(dead);
    const waiting = entryOf(1);
    const pumpAll = async (): Promise<void> => {
      for (const { dueAt } of memory.pumps.splice(0).filter(({ keeps }) => !keeps)) {
        memory.time = Math.max(memory.time, dueAt);
        await memory.startProcess().update(dead, (found) => found);
      }
    };
    memory.beforeSave = async () => {
      memory.beforeSave = () => Promise.resolve();
      await pumpAll();
    };
    const arrival = { entry: waiting, isYoung: false, hasWaited: false, mayHaveStarted: false };
    const entered = await memory.lanes.change(dead, (found, now) =>
      enter(found, { ...arrival, until: start + 40_000 }, now),
    );
    expect(entered).toBe('waits');
    await pumpAll();
    expect(grantedIn(memory)).toEqual([waiting]);
    expect([...memory.lane(dead).leases.keys()]).toContain(waiting);
  });
});

describe('a lane that gets much capacity at once', () => {
  it('grants slots to all waiting attempts in order, a hundred with each write', async () => {
    const entries = Array.from({ length: 250 }, (_, index) => entryOf(index + 1));
    const memory = memoryWith(entries.reduce((found, entry) => joinLine(found, entry), busy));
    await memory.lanes.update(key, (found) => ({ ...found, parallelism: 1_000 }));
    const counts = [memory.sent.length];
    // Runs the pump that was sent because there is still capacity.
    while (memory.lane(key).pumpAt > 0 && memory.sent.length < entries.length) {
      memory.time += 1_000;
      await memory.startProcess().update(key, (found) => found);
      counts.push(memory.sent.length);
    }
    expect(counts).toEqual([100, 200, 250]);
    expect(grantedIn(memory)).toEqual(entries);
    expect(memory.pumps).toContainEqual({ dueAt: start, keeps: false });
  });
});

describe('a grant', () => {
  // Except in a queue: a minute for the job to arrive, the longest attempt, and ten seconds.
  it.each([
    { kind: 'queue', carrier: 'short', lastsMs: undefined },
    { kind: 'key', carrier: 'short', lastsMs: 100_000 },
    { kind: 'account', carrier: 'long', lastsMs: 910_000 },
  ] as const)(
    'of a $kind gives a slot for $lastsMs ms if its job uses the $carrier queue',
    async ({ kind, carrier, lastsMs }) => {
      const place: LaneKey = { ...key, kind };
      const memory = memoryWith(newLane(place, start, { parallelism: 1 }));
      const waiting: Entry = { messageId: `msg_${'1'.repeat(26)}`, attempt: 0, queue: carrier };
      await memory.lanes.update(place, (found) => joinLine(found, formatEntry(waiting)));
      const until = lastsMs && start + lastsMs;
      expect([...memory.lane(place).leases.values()]).toMatchObject([{ slots: 1, until }]);
    },
  );

  it('does not go to a message that is in the line twice by the write that ends it: its job would arrive before that write', async () => {
    const [first, second] = [entryOf(0), entryOf(1)];
    const memory = memoryWith(joinLine(joinLine(busy, first), second));
    await memory.lanes.update(key, (found) => leave(found, first));
    expect(grantedIn(memory)).toEqual([second]);
    expect([...memory.lane(key).leases.keys()]).toEqual([second]);
    expect(waitingIn(memory.lane(key))).toBe(0);
  });
});
