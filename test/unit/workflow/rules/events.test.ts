import { describe, expect, it } from 'vitest';
import { badField } from '../../../../lambdas/error/httpError.ts';
import {
  checkCapacityForEvent,
  checkCapacityForWait,
  isWaiting,
  oldestEvent,
  waitsFor,
} from '../../../../lambdas/workflow/rules/events.ts';
import { checkEventId } from '../../../../lambdas/workflow/rules/step.ts';
import { eventDigest, type Snapshot } from '../../../../lambdas/workflow/rules/journal.ts';

const digest = eventDigest('paid');
const other = eventDigest('sent');
const snapshot: Snapshot = {
  seq: 9,
  startSeq: 0,
  factsSeq: 0,
  createdAt: 1,
  state: 'RUN_STARTED',
  entries: 1,
  bodyBytes: 1,
  steps: {},
  waits: [
    { digest, seq: 3, stepId: 1 },
    { digest: other, seq: 4, stepId: 2 },
    { digest, seq: 5, stepId: 3 },
  ],
  events: [],
  webhooks: [],
  keptUntil: 1,
};
const refused = (status: number, message: string | RegExp): Error =>
  expect.objectContaining({ status, message: expect.stringMatching(message) as string }) as Error;

describe('the id of an event', () => {
  it.each(['a', 'x'.repeat(256)])('may have 1 to 256 characters: %s', (eventId) => {
    expect(checkEventId.bind(undefined, eventId)).not.toThrow();
  });

  it.each(['', 'x'.repeat(257)])(
    'is otherwise refused, with a status that does not end the run: %j',
    (eventId) => {
      const check = checkEventId.bind(undefined, eventId);
      expect(check).toThrow(refused(412, /^The id of the event is ".*"; allowed are 1 to 256 characters\.$/));
      expect(checkEventId.bind(undefined, eventId, badField)).toThrow(refused(400, 'The id of the event is'));
    },
  );
});

describe('a run', () => {
  it('finds the waits for an event, oldest first, and whether one is active', () => {
    expect(waitsFor(snapshot, 'paid').map(({ seq }) => seq)).toEqual([3, 5]);
    expect(waitsFor(snapshot, 'never')).toEqual([]);
    expect(isWaiting(snapshot, 4)).toBe(true);
    expect(isWaiting(snapshot, 6)).toBe(false);
    expect(isWaiting({ ...snapshot, state: 'RUN_CANCELED' }, 4)).toBe(false);
    expect(isWaiting(undefined, 4)).toBe(false);
  });

  it('gives a wait the oldest event, and a webhook call only to a step that waits for the webhook', () => {
    const call = { digest, seq: 1, callBytes: 10 };
    const [first, second] = [
      { digest, seq: 2 },
      { digest, seq: 3 },
    ];
    const events = [{ digest: other, seq: 0 }, call, first, second];
    expect(oldestEvent({ events }, 'paid', 'Wait')).toBe(first);
    expect(oldestEvent({ events }, 'paid', 'WaitForWebhook')).toBe(call);
    expect(oldestEvent({ events }, 'never', 'Wait')).toBeUndefined();
  });

  it('keeps up to 100 events without a wait, not counting webhook calls', () => {
    const of = (notifications: number) => ({
      events: [
        ...Array.from({ length: notifications }, (_, seq) => ({ digest, seq })),
        { digest, seq: 200, callBytes: 0 },
      ],
    });
    expect(checkCapacityForEvent.bind(undefined, of(99))).not.toThrow();
    expect(checkCapacityForEvent.bind(undefined, of(100))).toThrow(
      refused(412, 'The run keeps 100 events that it has not waited for yet; allowed are 100.'),
    );
  });

  it('waits for up to 1,000 events at once', () => {
    const of = (count: number) => ({
      waits: Array.from({ length: count }, (_, seq) => ({ digest, seq, stepId: seq })),
    });
    expect(checkCapacityForWait.bind(undefined, of(999))).not.toThrow();
    expect(checkCapacityForWait.bind(undefined, of(1_000))).toThrow(
      refused(412, 'The run waits for 1000 events at once; allowed are 1000.'),
    );
  });
});
