/** Measures what a cold start loads, and how long it takes. */
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { bundle, handlersDirectory } from '../lib/bundle.ts';
import { coldStart } from '../test/support/coldStart.ts';
import { startInvoker, type Invoker } from './child.ts';
import { onTheWay } from './cpu.ts';
import { median, sum } from './figures.ts';
import { kilobytes, printTable, verdict } from './table.ts';

/** The functions that handle every message. */
const goals = { startBytes: 450_000, importMs: 60 };

const imports = 11;

/** Prints each handler's bundle. @returns the missed goals, as sentences */
export async function printBundles(): Promise<readonly string[]> {
  const handlers = readdirSync(handlersDirectory).map((name) => name.replace(/\.ts$/, ''));
  const loads = new Map(handlers.map((handler): [string, Invoker['load'][]] => [handler, []]));
  // In turns, so that a busy moment of the machine affects all bundles.
  for (let turn = 0; turn < imports; turn += 1) {
    for (const [handler, times] of loads) {
      const { load, end } = await startInvoker(handler);
      times.push(load);
      await end();
    }
  }
  const bundles = [...loads].map(([handler, times]) => {
    const folder = bundle(handler);
    return {
      handler,
      isJudged: onTheWay.some((one) => one === handler),
      /** `index.mjs` and everything that it imports statically. */
      startBytes: sum([...coldStart(folder).values()].map((text) => Buffer.byteLength(text))),
      allBytes: sum(
        readdirSync(folder, { recursive: true, withFileTypes: true })
          .filter((entry) => entry.isFile())
          .map((file) => statSync(join(file.parentPath, file.name)).size),
      ),
      /** The median time of an import in a new process. */
      wallMs: median(times.map(({ wallMs }) => wallMs)),
      cpuMs: median(times.map(({ cpuMs }) => cpuMs)),
    };
  });
  const judged = (value: number, goal: number, { isJudged }: { readonly isJudged: boolean }): string =>
    isJudged ? verdict(value, goal) : '';
  printTable('Bundles', bundles, [
    ['bundle', ({ handler }) => handler],
    ['KB at start', ({ startBytes }) => kilobytes(startBytes)],
    ['KB in all', ({ allBytes }) => kilobytes(allBytes)],
    ['import ms', ({ wallMs }) => wallMs.toFixed(0)],
    ['its CPU ms', ({ cpuMs }) => cpuMs.toFixed(0)],
    [`≤ ${kilobytes(goals.startBytes)} KB`, (one) => judged(one.startBytes, goals.startBytes, one)],
    [`≤ ${goals.importMs} ms`, (one) => judged(one.wallMs, goals.importMs, one)],
  ]);
  return bundles
    .filter(({ isJudged, startBytes }) => isJudged && startBytes > goals.startBytes)
    .map(({ handler, startBytes }) => `The bundle of ${handler} starts with ${kilobytes(startBytes)} KB.`);
}
