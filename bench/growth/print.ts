/** Prints what a message costs with few and with many others, and reports growth. */
import { onTheWay, type OnTheWay } from '../cpu.ts';
import { formatTable, verdict } from '../table.ts';
import { startFixture } from '../fixture.ts';
import { measureBranches } from './branches.ts';
import { measureGrowth, type Growth } from './grow.ts';

/** The numbers of a run's branches. */
const branchLevels = [100, 1_000];
const usualLevels = [100, 10_000, 100_000];

/** Counts vary slightly even without growth, because a page of a line is read once for eight messages. */
const mostGrowth = 1.05;
/** CPU times depend on the machine, so only the reader judges them. */
const mostCpuGrowth = 1.25;

export async function printGrowth(levels: readonly number[] = usualLevels): Promise<readonly string[]> {
  const fixture = await startFixture();
  try {
    // Otherwise each failed message would be logged.
    (await import('../../lambdas/aws/log.ts')).log.setLogLevel('ERROR');
    const onFilling = (backlog: string, level: number): void => {
      console.log(`${level} messages ${backlog} ...`);
    };
    const growths = [
      ...(await measureGrowth(fixture, { levels, measuresCpu: true, onFilling })),
      ...(await measureBranches(fixture, branchLevels, onFilling)),
    ];
    const lines = growths.flatMap((growth) => {
      const first = firstOf(growth, growths);
      return onTheWay.map((handler) => rowOf(growth, first, handler));
    });
    const head = ['message', 'by', 'others', 'calls', 'of few', `≤ ${mostGrowth}`, '$ of calls', 'of few'];
    const cpuHead = [`≤ ${mostGrowth}`, 'CPU ms', 'of few', `≤ ${mostCpuGrowth}`];
    console.log(
      `\nA message where there are many others: calls of AWS for one, their dollars for a million, CPU milliseconds for one\n\n` +
        formatTable([...head, ...cpuHead], lines, 2),
    );
    return grown(growths);
  } finally {
    await fixture.close();
  }
}

/** The same backlog with the fewest others. */
function firstOf({ backlog }: Growth, growths: readonly Growth[]): Growth {
  const first = growths.find((growth) => growth.backlog === backlog);
  if (first === undefined) throw new Error(`Nothing was measured ${backlog}.`);
  return first;
}

function rowOf(growth: Growth, first: Growth, handler: OnTheWay): readonly string[] {
  const ratioCells = (of: (growth: Growth) => number, most: number): readonly string[] => {
    const ratio = of(growth) / of(first);
    return [ratio.toFixed(2), verdict(ratio, most)];
  };
  const cpuCells = ({ cpuMs }: Growth): readonly string[] => {
    if (cpuMs === undefined) return ['', '', ''];
    const cpuOf = (one: Growth): number => one.cpuMs?.[handler] ?? Number.NaN;
    return [cpuOf(growth).toFixed(2), ...ratioCells(cpuOf, mostCpuGrowth)];
  };
  return [
    growth.backlog,
    handler,
    String(growth.there),
    growth.calls[handler].toFixed(2),
    ...ratioCells(({ calls }) => calls[handler], mostGrowth),
    growth.dollars[handler].toFixed(3),
    ...ratioCells(({ dollars }) => dollars[handler], mostGrowth),
    ...cpuCells(growth),
  ];
}

export function grown(growths: readonly Growth[]): readonly string[] {
  return growths.flatMap((growth) => {
    const first = firstOf(growth, growths);
    const figures = onTheWay.flatMap((handler) => [
      { what: `calls of ${handler}`, of: ({ calls }: Growth) => calls[handler] },
      { what: `dollars of ${handler}`, of: ({ dollars }: Growth) => dollars[handler] },
    ]);
    return figures
      .filter(({ of }) => of(growth) > mostGrowth * of(first))
      .map(
        ({ what, of }) =>
          `With ${growth.there} messages ${growth.backlog}, the ${what} for one are ${of(growth).toFixed(2)}, with ${first.there} they are ${of(first).toFixed(2)}.`,
      );
  });
}
