/** What a cold start loads, and how long it takes to load it. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { bundle, handlersDirectory } from '../lib/bundle.ts';
import { bundleUrl, compileChild, runChild } from './child.ts';
import { importResult } from './children/protocol.ts';
import { median } from './median.ts';

export interface BundleCost {
  readonly handler: string;
  /** `index.mjs` and all that it imports at once, in bytes. */
  readonly startBytes: number;
  readonly allBytes: number;
  /** Of an import in a fresh process, in milliseconds: medians. */
  readonly importWallMs: number;
  readonly importCpuMs: number;
}

const imports = 11;

export async function measureBundles(): Promise<readonly BundleCost[]> {
  const program = compileChild('import');
  const handlers = readdirSync(handlersDirectory).map((name) => name.replace(/\.ts$/, ''));
  const times = new Map(handlers.map((handler) => [handler, { url: bundleUrl(handler), ...newTimes() }]));
  // In turns, so that a busy moment of the machine is shared by all.
  for (let turn = 0; turn < imports; turn += 1) {
    for (const { url, wall, cpu } of times.values()) {
      const { result } = await runChild(program, { bundle: url }, importResult);
      wall.push(result.wallMs);
      cpu.push(result.cpuMs);
    }
  }
  return [...times].map(([handler, { wall, cpu }]) => {
    const folder = bundle(handler);
    return {
      handler,
      startBytes: sum(loadedAtStart(folder).map((file) => statSync(join(folder, file)).size)),
      allBytes: sum(readdirSync(folder).map((file) => statSync(join(folder, file)).size)),
      importWallMs: median(wall),
      importCpuMs: median(cpu),
    };
  });
}

const newTimes = (): { wall: number[]; cpu: number[] } => ({ wall: [], cpu: [] });

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

/** The files that `index.mjs` needs before its first line runs: those it, or one of them, imports by statement. */
function loadedAtStart(folder: string): readonly string[] {
  const loaded = new Set(['index.mjs']);
  // A set gives its later members too while it is gone through.
  for (const file of loaded) {
    const text = readFileSync(join(folder, file), 'utf8');
    for (const [, part] of text.matchAll(/(?:from|import)\s*"\.\/([^"]+)"/g)) {
      if (part !== undefined) loaded.add(part);
    }
  }
  return [...loaded];
}
