/** Prints what a message costs with few and with many others, and reports growth. */
import { onTheWay } from '../cpu.ts';
import { printTable, verdict } from '../table.ts';
import { startFixture } from '../fixture.ts';
import { measureBranches } from './branches.ts';
import { measureGrowth, type Growth } from './grow.ts';

const branchLevels = [100, 1_000];
const levels = [100, 10_000, 100_000];

/** Counts vary slightly even without growth: a page of a line is read once for eight messages. */
const mostGrowth = 1.05;

/** @returns the figures that grow, as sentences */
export async function printGrowth(): Promise<readonly string[]> {
  const fixture = await startFixture();
  try {
    // Failed messages would fill the output.
    (await import('../../lambdas/aws/log.ts')).log.setLogLevel('ERROR');
    const onFilling = (backlog: string, level: number): void => {
      console.log(`${level} messages ${backlog} ...`);
    };
    const growths = [
      ...(await measureGrowth(fixture, levels, onFilling)),
      ...(await measureBranches(fixture, branchLevels, onFilling)),
    ];
    const title =
      'A message where there are many others: calls of AWS for one, and their dollars for a million';
    printTable(
      title,
      growths.flatMap((growth) => figuresOf(growth, growths)),
      [
        ['message', ({ growth }) => growth.backlog],
        ['figure', ({ what }) => what],
        ['others', ({ growth }) => String(growth.there)],
        ['for one', ({ value }) => value.toFixed(3)],
        ['of few', ({ value, ofFew }) => (value / ofFew).toFixed(2)],
        [`≤ ${mostGrowth}`, ({ value, ofFew }) => verdict(value / ofFew, mostGrowth)],
      ],
      2,
    );
    return grown(growths);
  } finally {
    await fixture.close();
  }
}

function figuresOf(growth: Growth, growths: readonly Growth[]) {
  const few = growths.find(({ backlog }) => backlog === growth.backlog);
  if (few === undefined) throw new Error(`Nothing was measured ${growth.backlog}.`);
  return onTheWay.flatMap((handler) =>
    (['calls', 'dollars'] as const).map((figure) => ({
      growth,
      few,
      what: `${figure} of ${handler}`,
      value: growth[figure][handler],
      ofFew: few[figure][handler],
    })),
  );
}

export const grown = (growths: readonly Growth[]): readonly string[] =>
  growths
    .flatMap((growth) => figuresOf(growth, growths))
    .filter(({ value, ofFew }) => value > mostGrowth * ofFew)
    .map(
      ({ growth, few, what, value, ofFew }) =>
        `With ${growth.there} messages ${growth.backlog}, the ${what} for one are ${value.toFixed(2)}, with ${few.there} they are ${ofFew.toFixed(2)}.`,
    );
