import { describe, expect, it } from 'vitest';
import { type CountedLimits, newsMs, ProcessCount } from '../../../../lambdas/usage/rules/processCount.ts';
import { noUsage, plus, type Usage } from '../../../../lambdas/usage/usage.ts';

const now = 1_790_000_000_000;
const limits: CountedLimits = { hardPerDay: 1_000_000, paidMessages: 1_000_000, callsPerSecond: 100 };
const usage = (of: Partial<Usage>): Usage => ({ ...noUsage, ...of });

function processAt(row: Partial<Usage>, { phase = 0, at = now } = {}): ProcessCount {
  const count = new ProcessCount(phase);
  count.hear(usage(row), at);
  return count;
}

function report(count: ProcessCount, at: number, byOthers: Partial<Usage> = {}, of = limits) {
  const made = count.makeReport(of, at);
  count.noteReported(made, plus(plus(made.before, made.added), usage(byOthers)), at);
  return made;
}

describe('the count', () => {
  it('is the reported part, the count since then, and for the month the earlier days', () => {
    const count = processAt({ requests: 10, messages: 20 });
    count.hearEarlier(usage({ messages: 300 }));
    count.hearEarlier(usage({ messages: 4_000 }));
    count.count({ requests: 1, messages: 2 });
    expect([count.dailyRequests, count.monthlyMessages]).toEqual([11, 4_322]);
    report(count, now + 1, { requests: 100, messages: 100 });
    expect([count.dailyRequests, count.monthlyMessages]).toEqual([111, 4_422]);
  });

  it('is reported once, without what was given back', () => {
    const count = processAt({});
    count.count({ requests: 3, messages: 3, calls: 1, hooks: 1, bytes: 7 });
    count.count({ requests: -1, messages: -1 });
    expect(report(count, now + 1).added).toEqual({ requests: 2, messages: 2, calls: 1, hooks: 1, bytes: 7 });
    expect(report(count, now + 2).added).toEqual(noUsage);
  });

  it('keeps what is counted during a report for the next one', () => {
    const count = processAt({});
    count.count({ requests: 2, messages: 2 });
    const made = count.makeReport(limits, now);
    count.count({ requests: 1, messages: 1 });
    count.noteReported(made, usage({ requests: 2, messages: 2 }), now);
    expect(count.dailyRequests).toBe(3);
    expect(report(count, now).added).toEqual(usage({ requests: 1, messages: 1 }));
  });

  it('is partly reported before it is counted, for those kinds that were counted at all', () => {
    // Half of a step of six messages.
    const count = processAt({ requests: 10_000, messages: 10_000 }, { phase: 0.5 });
    count.count({ requests: 1, messages: 1 });
    expect(report(count, now).added).toEqual(usage({ requests: 4, messages: 4 }));
    expect(count.dailyRequests).toBe(10_001);
    count.count({ messages: 1 });
    expect(report(count, now).added).toEqual(usage({ requests: -3, messages: 1 }));
    count.count({ requests: 1 });
    expect(report(count, now).added).toEqual(usage({ requests: 4, messages: -3 }));
  });
});

describe('a report', () => {
  it('is due when a step of requests or messages is full', () => {
    for (const name of ['requests', 'messages'] as const) {
      const count = processAt({ requests: 10_000 });
      count.count({ [name]: 5 });
      expect(count.isReportDue(limits, now)).toBe(false);
      count.count({ [name]: 1 });
      expect(count.isReportDue(limits, now)).toBe(true);
      report(count, now);
      expect(count.isReportDue(limits, now)).toBe(false);
    }
  });

  it('is due earlier, the more was reported in advance', () => {
    const count = processAt({ requests: 10_000 }, { phase: 0.5 });
    count.count({ requests: 3 });
    expect(count.isReportDue(limits, now)).toBe(true);
  });

  it('is due for each message if little is left of the day or the month', () => {
    for (const few of [{ hardPerDay: 10_020 }, { paidMessages: 10_020 }, { hardPerDay: 0 }]) {
      const count = processAt({ requests: 10_000, messages: 10_000 });
      count.count({ requests: 1 });
      expect(count.isReportDue({ ...limits, ...few }, now)).toBe(true);
      expect(count.isReportDue(limits, now)).toBe(false);
    }
  });

  it('is due if more than a step is reported in advance', () => {
    const count = processAt({ requests: 10_000 });
    count.count({ requests: -5 });
    expect(count.isReportDue(limits, now)).toBe(false);
    count.count({ requests: -1 });
    expect(count.isReportDue(limits, now)).toBe(true);
  });

  it.each(['calls', 'hooks'] as const)('is due ten times a second at full traffic: %s', (name) => {
    const count = processAt({});
    count.count({ [name]: 9 });
    expect(count.isReportDue(limits, now)).toBe(false);
    count.count({ [name]: 1 });
    expect(count.isReportDue(limits, now)).toBe(true);
    const few = processAt({});
    few.count({ [name]: 1 });
    expect(few.isReportDue({ ...limits, callsPerSecond: 3 }, now)).toBe(true);
  });
});

describe('a process that begins a day', () => {
  const large = { ...limits, hardPerDay: 1e10, paidMessages: 1e10, callsPerSecond: 20_000 };
  const firstStep = (perSecond: number): number => {
    const count = new ProcessCount(0, perSecond);
    count.hear(noUsage, now);
    for (let counted = 1; ; counted += 1) {
      count.count({ requests: 1, messages: 1 });
      if (count.isReportDue(large, now)) return counted;
    }
  };

  it('keeps reporting as seldom as the day before’s rate allows, within the slack of a small count', () => {
    expect([0, 200, 2_000, 10_000, 100_000].map(firstStep)).toEqual([1, 1, 10, 50, 50]);
  });

  it('knows the day before’s rate while it is fresh', () => {
    const count = processAt({ messages: 0 });
    count.hear(usage({ messages: 500 }), now + 1_000);
    expect(count.perSecondAt(now + 1_000)).toBe(500);
    expect(count.perSecondAt(now + 1_000 + newsMs)).toBe(0);
  });
});

describe('a process', () => {
  it('uses its share of the requests until the measurement is too old', () => {
    const count = processAt({});
    expect(count.shareAt('calls', now)).toBe(1);
    count.count({ calls: 1 });
    // There is no earlier report to compare with.
    report(count, now, { calls: 3 });
    expect(count.shareAt('calls', now)).toBe(1);
    count.count({ calls: 1, hooks: 2 });
    report(count, now + 100, { calls: 3, hooks: 6 });
    expect([count.shareAt('calls', now + 100), count.shareAt('hooks', now + 100)]).toEqual([0.25, 0.25]);
    expect(count.shareAt('calls', now + 100 + newsMs - 1)).toBe(0.25);
    expect(count.shareAt('calls', now + 100 + newsMs)).toBe(1);
    count.count({ calls: 1 });
    report(count, now + 100 + newsMs, { calls: 3 });
    expect(count.shareAt('calls', now + 100 + newsMs)).toBe(1);
  });

  it('has all requests if it made none, or if others gave some back', () => {
    const count = processAt({});
    report(count, now);
    report(count, now + 100, { calls: 3 });
    expect(count.shareAt('calls', now + 100)).toBe(1);
    count.count({ calls: 1 });
    report(count, now + 200, { calls: -3 });
    expect(count.shareAt('calls', now + 200)).toBe(1);
  });

  it('reports earlier, the smaller its share of the messages is', () => {
    const row = { requests: 1_000_000, messages: 0 };
    const wide = { ...limits, hardPerDay: 100_000_000, paidMessages: 100_000_000 };
    const count = processAt(row);
    // Half of the slack of 10,000 at a share of 1/50, or a sixteenth (625) alone.
    count.count({ messages: 1 });
    report(count, now, { messages: 49 }, wide);
    count.count({ messages: 99 });
    expect(count.isReportDue(wide, now)).toBe(false);
    count.count({ messages: 1 });
    expect(count.isReportDue(wide, now)).toBe(true);
    // A report without messages says nothing about the share.
    const alone = processAt(row);
    alone.count({ messages: 1 });
    report(alone, now, {}, wide);
    report(alone, now, { messages: 49 }, wide);
    alone.count({ messages: 624 });
    expect(alone.isReportDue(wide, now)).toBe(false);
    alone.count({ messages: 1 });
    expect(alone.isReportDue(wide, now)).toBe(true);
  });

  it('has fresh counts of the others for five seconds', () => {
    const count = processAt({});
    expect(count.hasNewsAt(now + 4_999)).toBe(true);
    expect(count.hasNewsAt(now + 5_000)).toBe(false);
    report(count, now + 5_000);
    expect(count.hasNewsAt(now + 9_999)).toBe(true);
  });
});

describe('the rate of all processes', () => {
  /** Returns after how many messages a report is due, in a small account, where the rate decides. */
  const stepAt = (count: ProcessCount, at: number): number => {
    for (let messages = 1; messages <= 100; messages += 1) {
      count.count({ messages: 1 });
      if (count.isReportDue(limits, at)) {
        count.count({ messages: -messages });
        return messages;
      }
    }
    return Infinity;
  };

  it('lets a process report less often while it is high and known', () => {
    const count = processAt({ messages: 0 });
    expect(stepAt(count, now)).toBe(1);
    count.hear(usage({ messages: 2_000 }), now + 1_000);
    expect(stepAt(count, now + 1_000)).toBe(10);
    expect(stepAt(count, now + 1_000 + newsMs)).toBe(1);
  });

  it('is measured over at least a quarter of a second, and a higher one applies at once', () => {
    const count = processAt({ messages: 0 });
    count.hear(usage({ messages: 1_000 }), now + 10);
    // 1,000 in a quarter of a second.
    expect(stepAt(count, now + 10)).toBe(20);
    count.hear(usage({ messages: 1_000 }), now + 249);
    expect(stepAt(count, now + 249)).toBe(20);
    count.hear(usage({ messages: 1_000 }), now + 1_000);
    expect(stepAt(count, now + 1_000)).toBe(5);
    // The next measurement begins here.
    count.hear(usage({ messages: 1_100 }), now + 1_100);
    expect(stepAt(count, now + 1_100)).toBe(5);
    count.hear(usage({ messages: 1_100 }), now + 1_250);
    expect(stepAt(count, now + 1_250)).toBe(2);
  });
});

describe('a clock that has stepped back by an hour', () => {
  const back = now - 3_600_000;

  it('makes the process read the others’ counts again, and forget its share', () => {
    const count = processAt({});
    count.count({ calls: 1 });
    report(count, now, { calls: 3 });
    count.count({ calls: 1 });
    report(count, now + 1, { calls: 3 });
    expect(count.shareAt('calls', now + 1)).toBeLessThan(1);
    expect([count.hasNewsAt(back), count.shareAt('calls', back)]).toEqual([false, 1]);
  });

  it('does not look like a high rate', () => {
    const count = processAt({});
    count.hear(usage({ messages: 10 }), back);
    count.hear(usage({ messages: 20 }), back + 1_000);
    expect(count.perSecondAt(back + 1_000)).toBe(10);
  });
});
