import { describe, expect, it } from 'vitest';
import {
  afterVerdict,
  isOverdue,
  closedCircuit,
  heldAtOnce,
  type Circuit,
} from '../../../lambdas/circuit/circuit.ts';
import { rulesOf } from '../../../lambdas/circuit/settings.ts';
import { circuitHostOf, verdictOf, type Verdict } from '../../../lambdas/circuit/verdict.ts';

const rules = rulesOf({ enabled: true });
const time = 1_700_000_000_000;
const down: Verdict = { says: 'down', status: 503, error: undefined, notBefore: undefined };
const busy: Verdict = { says: 'busy', status: 429, error: undefined, notBefore: undefined };
const up: Verdict = { says: 'up' };

/** Returns a circuit after this number of failures, one every half second from `time` on. */
const afterFailures = (count: number): Circuit => {
  let circuit = closedCircuit;
  for (let number = 0; number < count; number += 1) {
    circuit = afterVerdict(circuit, down, rules, false, time + number * 500);
  }
  return circuit;
};

const response = (status: number, headers: readonly (readonly [string, string])[] = []) => ({
  status,
  headers,
  body: new Uint8Array(),
});

describe('an answer', () => {
  it.each([
    [0, 'down'],
    [200, 'up'],
    [302, 'up'],
    [404, 'up'],
    [429, 'busy'],
    [489, 'up'],
    [500, 'down'],
    [503, 'down'],
  ])('%s says that its host is %s', (status, says) => {
    expect(verdictOf(response(status), time).says).toBe(says);
  });

  it('to which the service refused to send says nothing', () => {
    expect(verdictOf({ ...response(0), isRefusal: true }, time).says).toBe('nothing');
  });
});

describe('a closed circuit', () => {
  it('opens with the last of five failures in a row', () => {
    expect(afterFailures(4).openedAt).toBeUndefined();
    expect(afterFailures(5)).toMatchObject({
      openedAt: time + 2_000,
      openUntil: time + 2_000 + 30_000,
      failures: 5,
      lastStatus: 503,
    });
  });

  it('stays closed if a success is between them', () => {
    const after = afterVerdict(afterFailures(4), up, rules, false, time + 2_000);
    expect(after.failures).toBe(0);
    expect(afterVerdict(after, down, rules, false, time + 3_000).openedAt).toBeUndefined();
  });

  it('stays closed if all failures are within one second, because processes may not know of successes yet', () => {
    let circuit = closedCircuit;
    for (let number = 0; number < 50; number += 1) {
      circuit = afterVerdict(circuit, down, rules, false, time + number);
    }
    expect(circuit.openedAt).toBeUndefined();
    expect(afterVerdict(circuit, down, rules, false, time + 1_000).openedAt).toBe(time + 1_000);
  });

  it('ignores a 429, which does not reset failures either', () => {
    const circuit = afterFailures(4);
    expect(afterVerdict(circuit, busy, rules, false, time + 2_000)).toBe(circuit);
  });
});

describe('an open circuit', () => {
  const open = afterFailures(5);

  it('admits nothing at first, and then one probe', () => {
    expect(heldAtOnce(open, open.openUntil - 1)).toBe(0);
    expect(heldAtOnce(open, open.openUntil)).toBe(1);
  });

  it('waits twice as long after each failed probe, up to ten minutes', () => {
    const waits: number[] = [];
    let circuit = open;
    for (let number = 0; number < 7; number += 1) {
      const at = circuit.openUntil;
      circuit = afterVerdict(circuit, down, rules, true, at);
      waits.push((circuit.openUntil - at) / 1_000);
    }
    expect(waits).toEqual([60, 120, 240, 480, 600, 600, 600]);
    expect(circuit.openedAt).toBe(open.openedAt);
  });

  it('waits as long as the host asks, up to the longest time', () => {
    const at = open.openUntil;
    const asking = (ms: number): Verdict => ({ ...down, notBefore: at + ms });
    expect(afterVerdict(open, asking(300_000), rules, true, at).openUntil).toBe(at + 300_000);
    expect(afterVerdict(open, asking(5_000), rules, true, at).openUntil).toBe(at + 60_000);
    expect(afterVerdict(open, asking(86_400_000), rules, true, at).openUntil).toBe(at + 600_000);
  });

  it('stays open after a probe with a 429, without doubling the wait', () => {
    const after = afterVerdict(open, busy, rules, true, open.openUntil);
    expect(after).toEqual({ ...open, openUntil: open.openUntil + 30_000 });
  });

  it('is not changed by a failure from before it opened', () => {
    expect(afterVerdict(open, down, rules, false, time + 3_000)).toBe(open);
  });

  it('is closed by a success, and admits two at once, then three', () => {
    const closed = afterVerdict(open, up, rules, true, open.openUntil);
    expect(closed).toEqual({ ...closedCircuit, window: 2 });
    expect(afterVerdict(closed, up, rules, true, open.openUntil).window).toBe(3);
  });

  it('lets an attempt wait for a day, counted from when it is due and the host is down', () => {
    const dayMs = 86_400_000;
    const openedAt = open.openedAt ?? 0;
    expect(isOverdue(open, rules, openedAt - 5 * dayMs, openedAt + dayMs - 1)).toBe(false);
    expect(isOverdue(open, rules, openedAt - 5 * dayMs, openedAt + dayMs)).toBe(true);
    expect(isOverdue(open, rules, openedAt + 5_000, openedAt + dayMs)).toBe(false);
    expect(isOverdue(closedCircuit, rules, 0, time)).toBe(false);
  });
});

describe('the rules', () => {
  it('have a longest time between probes that is at least the first', () => {
    expect(rulesOf({ enabled: true, open_seconds: 900 })).toMatchObject({
      openMs: 900_000,
      longestOpenMs: 900_000,
    });
  });

  it('stay finite, however many probes failed', () => {
    const circuit = { ...afterFailures(5), failedProbes: 5_000 };
    expect(afterVerdict(circuit, down, rules, true, time).openUntil).toBe(time + 600_000);
  });
});

describe('the host of a URL', () => {
  it.each([
    ['https://example.com/a?b', 'example.com'],
    ['https://user:word@Example.com:8443/', 'example.com:8443'],
    ['http://[2001:db8::1]:8080/', '[2001:db8::1]:8080'],
  ])('of %s is %s', (url, host) => {
    expect(circuitHostOf(url)).toBe(host);
  });

  it('has no circuit if it is too long for a name', () => {
    expect(circuitHostOf(`https://${'a.'.repeat(160)}com/`)).toBeUndefined();
  });
});
