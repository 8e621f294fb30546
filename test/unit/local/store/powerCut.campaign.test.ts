import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, describe, expect, it } from 'vitest';
import { checkPages } from '../../../../local/store/pages.ts';
import { Store } from '../../../../local/store/store.ts';
import { applyGroup, groupOf, lastKey } from '../../../support/powerCut/load.ts';
import { canWatch, CutDisk, readLog, watchWrites, type Fate } from '../../../support/powerCut/writeLog.ts';
import { randomOf } from '../../../support/simulatedClock.ts';
import { digestOf, digestOfModel, everything, type Model } from '../../../support/store/contents.ts';

const groups = 200;
const program = 'test/support/powerCut/loadedStore.ts';

function digestsOf(seed: number): readonly string[] {
  const model: Model = new Map();
  return Array.from({ length: groups }, (_, number) => {
    applyGroup(model, seed, number);
    return digestOfModel(model);
  });
}

function contentsOf(store: Store): { readonly last: number; readonly digest: string } {
  return { last: Number(store.get(lastKey)), digest: digestOf(store.range(everything)) };
}

describe.runIf(canWatch())('a store after a power failure', () => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-cut-'));
  afterAll(() => {
    rmSync(folder, { recursive: true });
  });

  it.each([1, 2, 3])(
    'has everything that was on the disk, and only complete groups (seed %i)',
    async (seed) => {
      const { env, log } = watchWrites(folder, 'written');
      const args = [
        '--import',
        'tsx',
        program,
        join(folder, `written-${seed}`),
        String(seed),
        String(groups),
      ];
      await promisify(execFile)(process.execPath, args, { env: { ...process.env, ...env } });
      const noted = readLog(log);
      const digests = digestsOf(seed);
      const random = randomOf(seed);
      const disk = new CutDisk(Buffer.alloc(0));
      const file = join(folder, 'cut.mdb');
      let [acknowledged, struck] = [-1, 0];
      for (const [at, current] of noted.entries()) {
        if (acknowledged >= 0 && current.kind !== 'mark') {
          const unitBytes = [512, 4_096, Infinity][at % 3] ?? 512;
          const fate: Fate = {
            kept: [0, 0.5, 0.9, 0.1, 1][Math.floor(random() * 5)] ?? 0,
            unitBytes,
            random,
          };
          const { bytes, lost } = disk.cut(fate, current);
          const about = `seed ${seed}, before record ${at} (${current.kind}), kept ${fate.kept} of units of ${unitBytes}`;
          writeFileSync(file, bytes);
          rmSync(`${file}-lock`, { force: true });
          expect(await checkPages(file, { limitMs: Infinity }), about).toBeUndefined();
          const store = new Store(file);
          const { last, digest } = contentsOf(store);
          expect(last, about).toBeGreaterThanOrEqual(acknowledged);
          expect(digest, about).toBe(digests[last]);
          // It continues from there.
          if (at % 10 === 0 && last + 1 < groups) {
            for (const { key, value } of groupOf(seed, last + 1)) store.write(key, value);
            await store.committed();
            expect(contentsOf(store), about).toEqual({ last: last + 1, digest: digests[last + 1] });
          }
          await store.close();
          if (lost > 0) struck += 1;
        }
        if (current.kind === 'mark') acknowledged = Math.max(acknowledged, Number(current.bytes.toString()));
        disk.take(current);
      }
      expect(acknowledged).toBe(groups - 1);
      // A power failure that loses nothing proves nothing.
      expect(struck).toBeGreaterThan(groups / 4);
    },
  );
});
