import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkPages } from '../../../../local/store/pages.ts';
import { Store } from '../../../../local/store/store.ts';
import { randomOf } from '../../../support/simulatedClock.ts';
import { digestOfModel, write, type Model } from '../../../support/store/contents.ts';
import { damaged, damages, type DamageName, type Version } from '../../../support/store/damages.ts';

const folder = mkdtempSync(join(tmpdir(), 'svc-pages-'));
afterAll(() => {
  rmSync(folder, { recursive: true });
});

const whole = { limitMs: Infinity };

const rounds = 8;
const alwaysFound: readonly DamageName[] = ['oldMeta', 'swappedMetas', 'emptied'];
const names = Object.keys(damages).filter((name): name is DamageName => name in damages);

async function versionsOf(seed: number, transactions = 24): Promise<readonly Version[]> {
  const random = randomOf(seed);
  const file = join(folder, `made-${seed}.mdb`);
  const keys = [60, 500, 2_000][seed % 3] ?? 500;
  const model: Model = new Map();
  const versions: Version[] = [];
  const store = new Store(file);
  const bytes = (): Buffer => {
    const kind = random();
    const length = kind < 0.005 ? 65_536 : kind < 0.03 ? 5_000 : 300;
    return Buffer.alloc(Math.floor(random() * length), `${seed} ${random()} `);
  };
  try {
    for (let at = 0; at < transactions; at += 1) {
      const count = at === 0 ? keys * 2 : 1 + Math.floor(random() ** 2 * 30);
      for (let entry = 0; entry < count; entry += 1) {
        const key = Buffer.from(`key ${Math.floor(random() * keys)}`.padEnd(8 + (seed % 2) * 40));
        write(store, model, key, random() < 0.3 ? undefined : bytes());
      }
      await store.committed();
      expect(await checkPages(file, whole)).toBeUndefined();
      versions.push({ bytes: readFileSync(file), digest: digestOfModel(model) });
    }
  } finally {
    await store.close();
  }
  return versions;
}

describe('the check of pages', () => {
  let user: ChildProcess;
  beforeAll(() => {
    user = fork('test/support/store/storeUser.ts', { execArgv: ['--import', 'tsx'] });
  });
  afterAll(() => {
    user.kill();
  });

  /** Uses a store in a separate process, because it may crash. */
  const use = async (file: string): Promise<unknown> => {
    const done = new AbortController();
    const { signal } = done;
    const answer = once(user, 'message', { signal });
    const exit = once(user, 'exit', { signal }).then((how) => [`It crashed: ${how.join(' ')}`]);
    exit.catch(() => undefined);
    user.send(file);
    const [said]: readonly unknown[] = await Promise.race([answer, exit]);
    done.abort();
    return said;
  };

  it.each([1, 2, 3])('finds any damage that would harm entries (seed %i)', async (seed) => {
    const versions = await versionsOf(seed);
    const found = new Map<DamageName, number>();
    for (let round = 0; round < rounds; round += 1) {
      for (const name of names) {
        const file = join(folder, 'damaged.mdb');
        const about = `damage ${name}, seed ${seed}, round ${round}`;
        writeFileSync(file, damaged(name, versions, seed * 1_000 + round));
        if ((await checkPages(file, whole)) !== undefined) {
          found.set(name, (found.get(name) ?? 0) + 1);
          continue;
        }
        // A lost last transaction looks like a power failure before its end.
        const expected = versions.at(name === 'lostTransaction' ? -2 : -1)?.digest;
        expect(await use(file), about).toBe(expected);
        expect(await checkPages(file, whole), about).toBeUndefined();
        rmSync(`${file}-lock`);
      }
    }
    // Damage in unused bytes is harmless, but enough damage must be harmful.
    const total = [...found.values()].reduce((sum, count) => sum + count, 0);
    expect(total).toBeGreaterThan(0.4 * rounds * names.length);
    expect(Math.min(...alwaysFound.map((name) => found.get(name) ?? 0))).toBe(rounds);
  });

  it('finds damage in all pages but leaves even if its time is up', async () => {
    const versions = await versionsOf(2, 3);
    const file = join(folder, 'limited.mdb');
    const bytes = Buffer.from(versions.at(-1)?.bytes ?? Buffer.alloc(0));
    const newer = bytes.readUInt32LE(152) > bytes.readUInt32LE(4_096 + 152) ? 0 : 4_096;
    const root = bytes.readUInt32LE(newer + 136) * 4_096;
    const firstLeaf = bytes.readUInt32LE(root + 24 + bytes.readUInt16LE(root + 24)) * 4_096;
    writeFileSync(file, bytes);
    expect(await checkPages(file, { limitMs: 0 })).toBeUndefined();
    const harm = async (at: number): Promise<readonly (string | undefined)[]> => {
      const harmed = Buffer.from(bytes);
      harmed.fill(0xff, at, at + 4);
      writeFileSync(file, harmed);
      return [await checkPages(file, { limitMs: 0 }), await checkPages(file)];
    };
    const outside = `page ${root / 4_096} has an entry outside it`;
    expect(await harm(root + 24)).toEqual([outside, outside]);
    const damage = `page ${firstLeaf / 4_096} has an entry that is not as it was written`;
    expect(await harm(firstLeaf + 4_092)).toEqual([undefined, damage]);
  });
});
