import { isGood, type Outcome } from './check.ts';

const marks = { good: 'good', short: 'SHORT', skipped: 'skipped' } as const;

const widest = (texts: readonly string[]): number => Math.max(0, ...texts.map((text) => text.length));

/** A line for each outcome, what to do for failures, and a summary. */
export function tableOf(outcomes: readonly Outcome[]): string {
  const checkWidth = widest(outcomes.map(({ check }) => check));
  const regionWidth = widest(outcomes.map(({ region }) => region));
  const lines = outcomes.flatMap(({ check, region, result, seen, remedy }) => {
    const start = `${marks[result].padEnd(7)}  ${check.padEnd(checkWidth)}  ${region.padEnd(regionWidth)}  `;
    const todo = remedy === undefined ? [] : [`${' '.repeat(start.length)}-> ${remedy}`];
    return [`${start}${seen.replaceAll(/\s+/g, ' ')}`, ...todo];
  });
  return [...lines, '', sumOf(outcomes)].join('\n');
}

function sumOf(outcomes: readonly Outcome[]): string {
  const count = (result: Outcome['result']): number =>
    outcomes.filter((outcome) => outcome.result === result).length;
  const counts = `${count('good')} good, ${count('short')} short, ${count('skipped')} skipped`;
  return `${counts}. ${isGood(outcomes) ? 'Nothing that was checked falls short.' : 'This is not as it has to be.'}`;
}

export const jsonOf = (outcomes: readonly Outcome[]): string =>
  JSON.stringify({ good: isGood(outcomes), outcomes }, undefined, 2);
