/** Measures what a cold start loads, and how long it takes. */
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { bundle, handlersDirectory } from '../lib/bundle.ts';
import { coldStart } from '../test/support/coldStart.ts';
import { bundleUrl, compileChild, runChild } from './child.ts';
import { importResult } from './children/protocol.ts';
import { median, sum } from './figures.ts';

export type BundleCost = Awaited<ReturnType<typeof measureBundles>>[number];

const imports = 11;

export async function measureBundles() {
  const program = compileChild('import');
  const handlers = readdirSync(handlersDirectory).map((name) => name.replace(/\.ts$/, ''));
  const times = new Map(handlers.map((handler) => [handler, { url: bundleUrl(handler), ...newTimes() }]));
  // In turns, so that a busy moment of the machine affects all bundles.
  for (let turn = 0; turn < imports; turn += 1) {
    for (const { url, wall, cpu } of times.values()) {
      const { wallMs, cpuMs } = await runChild(program, { bundle: url }, importResult);
      wall.push(wallMs);
      cpu.push(cpuMs);
    }
  }
  return [...times].map(([handler, { wall, cpu }]) => {
    const folder = bundle(handler);
    return {
      handler,
      /** `index.mjs` and everything that it imports at once. */
      startBytes: sum([...coldStart(folder).values()].map((text) => Buffer.byteLength(text))),
      allBytes: sum(
        readdirSync(folder, { recursive: true, withFileTypes: true })
          .filter((entry) => entry.isFile())
          .map((file) => statSync(join(file.parentPath, file.name)).size),
      ),
      /** The median time of an import in a new process. */
      importWallMs: median(wall),
      importCpuMs: median(cpu),
    };
  });
}

const newTimes = (): { wall: number[]; cpu: number[] } => ({ wall: [], cpu: [] });
