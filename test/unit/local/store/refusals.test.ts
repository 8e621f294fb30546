import { execFile, execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkPages } from '../../../../local/store/pages.ts';
import { Store } from '../../../../local/store/store.ts';
import { eventually } from '../../../support/eventually.ts';
import { canWatch, watchWrites } from '../../../support/powerCut/writeLog.ts';

const folder = mkdtempSync(join(tmpdir(), 'svc-refusals-'));
afterAll(() => {
  rmSync(folder, { recursive: true });
});

const disk = join(folder, 'disk');
const megabyte = 2 ** 20;

/** Mounts a disk of 32 MB if the tests may. Returns whether it did. */
function mount(): boolean {
  try {
    mkdirSync(disk);
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=32m', 'tmpfs', disk], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

const isMounted = mount();
afterAll(() => {
  if (isMounted) execFileSync('umount', ['-l', disk]);
});

describe.runIf(isMounted)('a store on a full disk', () => {
  it('refuses what does not fit, keeps the rest, and continues when there is room', async () => {
    const ballast = join(disk, 'ballast');
    writeFileSync(ballast, Buffer.alloc(16 * megabyte));
    const file = join(disk, 'store.mdb');
    const store = new Store(file);
    const [accepted, refused]: [Buffer[], Buffer[]] = [[], []];
    const write = async (bytes: number): Promise<unknown> => {
      const key = Buffer.from(`key ${accepted.length + refused.length}`);
      store.write(key, Buffer.alloc(bytes, key));
      return store.committed().then(
        () => void accepted.push(key),
        (error: unknown) => {
          refused.push(key);
          return error;
        },
      );
    };
    // The disk has more space than the minimum, but not enough for the whole value.
    while ((await write(3 * megabyte)) === undefined);
    expect(await write(3 * megabyte)).toMatchObject({ code: 'ENOSPC' });
    const fitting = [...accepted];
    expect(fitting.length).toBeGreaterThan(2);
    rmSync(ballast);
    await eventually(
      () => write(1_000),
      (error) => error === undefined,
    );
    for (const key of fitting) expect(store.get(key)?.equals(Buffer.alloc(3 * megabyte, key))).toBe(true);
    for (const key of refused) expect(store.get(key)).toBeUndefined();
    await store.close();
    expect(await checkPages(file)).toBeUndefined();
  });
});

const failures = [
  {
    what: 'a write: the disk is full',
    way: 'write',
    errno: 28,
    code: 'ENOSPC',
    sentence: 'is full',
    isRead: true,
  },
  {
    what: 'a write: the quota is used up',
    way: 'write',
    errno: 122,
    code: 'EDQUOT',
    sentence: 'is full',
    isRead: false,
  },
  {
    what: 'a write: the disk is read-only',
    way: 'write',
    errno: 30,
    code: 'EROFS',
    sentence: 'cannot be written',
    isRead: true,
  },
  { what: 'a flush', way: 'sync', errno: 5, code: 'EIO', sentence: 'fails', isRead: false },
  { what: 'the end of a transaction', way: 'synced', errno: 5, code: 'EIO', sentence: 'fails', isRead: true },
  {
    what: 'the end, on a disk that is full',
    way: 'synced',
    errno: 28,
    code: 'ENOSPC',
    sentence: 'is full',
    isRead: false,
  },
];

describe.runIf(canWatch())('a store with a failing disk', () => {
  let env: NodeJS.ProcessEnv;
  beforeAll(() => {
    env = { ...process.env, ...watchWrites(folder, 'failing').env };
  });

  // Each test waits for the pause after a failure.
  it.concurrent.each(failures)(
    'gives the reason, loses nothing, and goes on ($what; while it is read: $isRead)',
    async ({ way, errno, code, sentence, isRead }) => {
      const file = join(mkdtempSync(join(folder, 'store-')), 'failing.mdb');
      const program = ['--import', 'tsx', 'test/support/store/refusedStore.ts'];
      const args = [...program, file, way, String(errno), '1', ...(isRead ? ['read'] : [])];
      const { stdout } = await promisify(execFile)(process.execPath, args, { env });
      const said: unknown = JSON.parse(stdout);
      expect(said).toMatchObject({
        lost: [],
        appeared: [],
        unhandled: [],
        sentences: [expect.stringContaining(sentence)],
      });
      expect(said).toMatchObject({ reasons: [code] });
      expect(said).not.toHaveProperty('damage');
      if (isRead) expect(said).toMatchObject({ left: 4 });
    },
  );
});
