/** Prints what a message costs with few and with many others, and reports growth. */
import { onTheWay, type OnTheWay } from '../cpu.ts';
import { type Columns, printTable, verdict } from '../table.ts';
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
    printTable(
      'A message where there are many others: calls of AWS for one, their dollars for a million, CPU milliseconds for one',
      growths.flatMap((growth) =>
        onTheWay.map((handler) => ({ growth, first: firstOf(growth, growths), handler })),
      ),
      [
        ['message', ({ growth }) => growth.backlog],
        ['by', ({ handler }) => handler],
        ['others', ({ growth }) => String(growth.there)],
        ...columnsOf('calls', 2, mostGrowth, ({ calls }, handler) => calls[handler]),
        ...columnsOf('$ of calls', 3, mostGrowth, ({ dollars }, handler) => dollars[handler]),
        ...columnsOf('CPU ms', 2, mostCpuGrowth, ({ cpuMs }, handler) => cpuMs?.[handler]),
      ],
      2,
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

interface Row {
  readonly growth: Growth;
  readonly first: Growth;
  readonly handler: OnTheWay;
}

/** A figure, its ratio to that with the fewest others, and whether it has grown. Empty if it was not measured. */
function columnsOf(
  name: string,
  digits: number,
  most: number,
  figure: (growth: Growth, handler: OnTheWay) => number | undefined,
): Columns<Row> {
  const ratioText =
    (show: (ratio: number) => string) =>
    ({ growth, first, handler }: Row): string => {
      const [now, before] = [figure(growth, handler), figure(first, handler)];
      return now === undefined ? '' : show(now / (before ?? Number.NaN));
    };
  return [
    [name, ({ growth, handler }) => figure(growth, handler)?.toFixed(digits) ?? ''],
    ['of few', ratioText((ratio) => ratio.toFixed(2))],
    [`≤ ${most}`, ratioText((ratio) => verdict(ratio, most))],
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
