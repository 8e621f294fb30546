import { describe, expect, it } from 'vitest';
import type { Condition, Found } from '../../../../lambdas/alarm/alarm.ts';
import { afterLook, durationText, type Look } from '../../../../lambdas/alarm/rules/conditions.ts';
import { hourMs, minuteMs } from '../../../../lambdas/shared/clock.ts';
import { alarmKinds } from '../../../../lambdas/wire/alarms.ts';

const start = Date.parse('2026-01-10T12:00:00Z');

const host = (subject: string, detail = 'It fails.'): Found => ({
  kind: 'hosts',
  subject,
  title: `The host ${subject} fails`,
  detail,
});

/** Runs checks one after the other. @returns the alarms of each, and the open conditions at the end */
function looks(...all: readonly Partial<Look>[]) {
  let open: readonly Condition[] = [];
  const told = all.map((look, index) => {
    const after = afterLook(open, {
      found: [],
      watched: new Set(alarmKinds),
      cut: new Set(),
      time: start + index * 5 * minuteMs,
      isQuiet: false,
      ...look,
    });
    ({ open } = after);
    return after.notices.map(({ state, subject, detail }) => `${state} ${subject}: ${detail}`);
  });
  return { told, open };
}

describe('a condition', () => {
  it('is reported once when it opens and once when it is over', () => {
    const found = [host('a')];
    expect(looks({ found }, { found }, {}, {})).toEqual({
      told: [['open a: It fails.'], [], ['over a: It lasted 10 min.'], []],
      open: [],
    });
  });

  it('that returns is reported again as a new one', () => {
    const { told, open } = looks({ found: [host('a')] }, {}, { found: [host('a')] });
    expect(told[2]).toEqual(['open a: It fails.']);
    expect(open).toMatchObject([{ openedAt: start + 10 * minuteMs, isTold: true }]);
  });

  it('that opens in quiet hours is reported at their end, in its present form', () => {
    const { told, open } = looks(
      { found: [host('a', 'Early.')], isQuiet: true },
      { found: [host('a', 'Late.')] },
      { found: [host('a')] },
    );
    expect(told).toEqual([[], ['open a: Late.'], []]);
    expect(open).toMatchObject([{ openedAt: start, isTold: true }]);
  });

  it('that opens and ends within quiet hours is never reported', () => {
    const { told, open } = looks({ found: [host('a')], isQuiet: true }, { isQuiet: true }, {});
    expect([told, open]).toEqual([[[], [], []], []]);
  });

  it('that ends in quiet hours is over at their end, unless it has returned by then', () => {
    const found = [host('gone'), host('back')];
    const { told } = looks({ found }, { isQuiet: true }, { found: [host('back')] });
    expect(told.slice(1)).toEqual([[], ['over gone: It lasted 10 min.']]);
  });

  it('stays open for up to an hour while checks that cannot see everything miss it', () => {
    const cut = new Set(['hosts'] as const);
    const found = [host('a')];
    const missed = { cut, time: start + 5 * minuteMs };
    const { told } = looks(
      { found },
      missed,
      { cut, time: start + 64 * minuteMs },
      { cut, found, time: start + 65 * minuteMs },
      { cut, time: start + 70 * minuteMs },
      { cut, time: start + 70 * minuteMs + hourMs },
    );
    expect(told.slice(1)).toEqual([[], [], [], [], ['over a: It lasted 2 h 10 min.']]);
    expect(looks({ found }, missed).open).toHaveLength(1);
  });

  it('that is no longer watched is reported as such', () => {
    expect(looks({ found: [host('a')] }, { watched: new Set() }).told[1]).toEqual([
      'over a: It is no longer watched.',
    ]);
  });
});

describe('conditions of one kind', () => {
  const many = (from: number, to: number): readonly Found[] =>
    Array.from({ length: to - from }, (_, index) => host(`h${from + index}`));

  it('are reported one by one up to twenty, and the others together', () => {
    const { told, open } = looks({ found: many(0, 23) });
    expect(told[0]).toHaveLength(21);
    expect(told[0]?.[20]).toBe('open *: 3 or more besides the 20 that were reported separately.');
    expect(open).toHaveLength(21);
  });

  it('that are open keep their places, and others take the places of ended ones', () => {
    const { told } = looks({ found: many(0, 22) }, { found: many(1, 24) }, { found: many(4, 24) });
    expect(told[1]).toEqual(['over h0: It lasted 5 min.', 'open h20: It fails.']);
    expect(told[2]?.filter((text) => text.startsWith('over'))).toEqual([
      'over h1: It lasted 10 min.',
      'over h2: It lasted 10 min.',
      'over h3: It lasted 10 min.',
      'over *: It lasted 10 min.',
    ]);
  });
});

it.each([
  [10, '1 min'],
  [119 * minuteMs, '119 min'],
  [2 * hourMs + minuteMs, '2 h 1 min'],
  [49 * hourMs, '49 h'],
])('%d ms are %s', (ms, text) => {
  expect(durationText(ms)).toBe(text);
});
