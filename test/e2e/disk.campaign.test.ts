import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { call, messageIdOf, publish, service } from '../support/publish.ts';
import { startReceiver } from '../support/receiver.ts';
import { runStage, startStage, type Stage } from '../support/stage.ts';
import { useReceiver } from '../support/useReceiver.ts';

/** Mounting a small disk requires the permission to do so. */

function mounted(options: string): string | undefined {
  const folder = mkdtempSync(join(tmpdir(), 'svc-disk-'));
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', folder], { stdio: 'ignore' });
    return folder;
  } catch {
    // Not root, or in a container without the permission.
    rmSync(folder, { recursive: true });
    return undefined;
  }
}

function unmount(folder: string): void {
  execFileSync('umount', ['--lazy', folder]);
  rmSync(folder, { recursive: true, force: true });
}

/** Creates an image of a file system, which the kernel makes read-only when it finds an error, like most disks. */
function failingDisk() {
  const folder = mkdtempSync(join(tmpdir(), 'svc-disk-'));
  const image = `${folder}.img`;
  const run = (program: string, ...args: readonly string[]): string =>
    execFileSync(program, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  const remove = (): void => {
    rmSync(folder, { recursive: true, force: true });
    rmSync(image, { force: true });
  };
  let device = '';
  const mount = (): void => {
    run('mount', '-o', 'loop,errors=remount-ro', image, folder);
    device = basename(run('findmnt', '--noheadings', '--output', 'SOURCE', folder));
  };
  try {
    writeFileSync(image, Buffer.alloc(2 ** 25));
    run('mkfs.ext4', '-q', image);
    mount();
  } catch {
    remove();
    return undefined;
  }
  const trigger = (): string => `/sys/fs/ext4/${device}/trigger_fs_error`;
  const made = {
    folder,
    fail: () => {
      writeFileSync(trigger(), 'an error of the disk');
    },
    repair: async () => {
      await eventually(
        () => Promise.resolve(spawnSync('umount', [folder]).status),
        (status) => status === 0,
      );
      // It exits with 1 if it repaired something.
      spawnSync('e2fsck', ['-p', image]);
      mount();
    },
    close: () => {
      run('umount', '--lazy', folder);
      remove();
    },
  };
  if (existsSync(trigger())) return made;
  made.close();
  return undefined;
}

const probe = service.target === 'local' ? mounted('size=1m') : undefined;
if (probe !== undefined) unmount(probe);
else if (service.target === 'local')
  process.stderr.write('No disk can be mounted here: full and read-only disks are not tried.\n');

const failing = service.target === 'local' ? failingDisk() : undefined;
failing?.close();
if (failing === undefined && service.target === 'local')
  process.stderr.write('No disk can be made to fail here: one that becomes read-only is not tried.\n');

const readiness = (url: string) => call('/v2/ready', {}, url);

describe.runIf(probe !== undefined)('a disk', () => {
  const receiver = useReceiver();

  let disk = '';
  let stage: Stage | undefined;
  afterEach(async () => {
    await stage?.kill();
    stage = undefined;
    if (disk !== '') unmount(disk);
    disk = '';
  });

  it('that is full: publishes get a 503, a sentence says why, nothing is lost, and the stage continues when there is room', async () => {
    disk = mounted('size=24m') ?? '';
    const running = await startStage({ dataDir: join(disk, 'data'), testControl: true });
    stage = running;
    const { url, token, output } = running;
    const inbox = receiver.inbox();
    const accepted: string[] = [];
    const send = async (): Promise<number> => {
      const answer = await publish(inbox.url, {
        url,
        token,
        body: 'x'.repeat(3_000),
        headers: { 'Svc-Delay': '3s' },
      });
      if (answer.status === 200) accepted.push(messageIdOf(answer));
      return answer.status;
    };
    for (let at = 0; at < 20; at += 1) expect(await send()).toBe(200);
    const ballast = join(disk, 'ballast');
    const fill = (): void => {
      try {
        writeFileSync(ballast, Buffer.alloc(2 ** 25));
      } catch (error) {
        expect(error).toMatchObject({ code: 'ENOSPC' });
      }
    };
    fill();
    await eventually(send, (status) => status === 503);
    await eventually(
      () => Promise.resolve(output()),
      (text) => text.includes(`The disk of ${stage?.dataDir ?? ''} is full. Accepted messages are kept;`),
    );
    const refused = await readiness(url);
    expect(refused.status).toBe(503);
    expect(refused.json).toMatchObject({ error: expect.stringMatching(/ is full/) as unknown });
    expect((await call('/v2/health', {}, url)).status).toBe(200);

    rmSync(ballast);
    await eventually(
      () => readiness(url),
      ({ status }) => status === 200,
    );
    expect(await send()).toBe(200);
    await eventually(
      async () => {
        // A job that was received while the disk was full is hidden for minutes.
        await running.advance(60_000);
        return new Set(inbox.deliveries.map(({ headers }) => headers['svc-message-id']));
      },
      (ids) => accepted.every((id) => ids.has(id)),
    );
    // A stage that dies on a full disk starts again when there is room.
    fill();
    await stage.kill();
    const ended = await runStage(['--port', '0', '--data-dir', stage.dataDir]);
    expect(await ended.exited).toBe(2);
    expect(ended.output()).toContain(`The disk of ${stage.dataDir} is full.`);
    rmSync(ballast);
    stage = await startStage({ dataDir: stage.dataDir });
    const list = await call('/v2/logs?count=1', { headers: { authorization: `Bearer ${token}` } }, stage.url);
    expect(list.status).toBe(200);
  });

  it('that cannot be written is named at the start', async () => {
    disk = mounted('size=4m,ro') ?? '';
    const ended = await runStage(['--port', '0', '--data-dir', disk]);
    expect(await ended.exited).toBe(2);
    expect(ended.output()).toBe(
      `${disk} cannot be written. Accepted messages are kept; the service continues when it can be written.\n`,
    );
  });
});

describe.runIf(failing !== undefined)('a disk that becomes read-only while the stage runs', () => {
  it('publishes get a 503, a sentence says why, and everything is delivered after the repair', async () => {
    const disk = failingDisk();
    if (disk === undefined) throw new Error('The second disk could not be made.');
    const receiver = await startReceiver();
    let stage = await startStage({ dataDir: join(disk.folder, 'data') });
    try {
      const { url, token, output } = stage;
      const inbox = receiver.inbox();
      const accepted: string[] = [];
      const send = async (): Promise<number> => {
        const answer = await publish(inbox.url, { url, token, headers: { 'Svc-Delay': '2s' } });
        if (answer.status === 200) accepted.push(messageIdOf(answer));
        return answer.status;
      };
      for (let at = 0; at < 20; at += 1) expect(await send()).toBe(200);
      disk.fail();
      await eventually(send, (status) => status === 503);
      await eventually(
        () => Promise.resolve(output()),
        (text) => text.includes(`${stage.dataDir} cannot be written. Accepted messages are kept;`),
      );
      const refused = await readiness(url);
      expect(refused.status).toBe(503);
      expect(refused.json).toMatchObject({ error: expect.stringMatching(/cannot be written/) as unknown });
      expect((await call('/v2/health', {}, url)).status).toBe(200);

      await stage.kill();
      await disk.repair();
      stage = await startStage({ dataDir: stage.dataDir });
      await inbox.until((deliveries) => {
        const ids = new Set(deliveries.map(({ headers }) => headers['svc-message-id']));
        return accepted.every((id) => ids.has(id));
      });
    } finally {
      await stage.kill();
      disk.close();
      await receiver.close();
    }
  });
});

describe.runIf(service.target === 'local')('a store', () => {
  it('with damaged pages: a sentence names the backup, and nothing of it is overwritten', async () => {
    const stage = await startStage();
    try {
      const { url, token, dataDir } = stage;
      for (let at = 0; at < 10; at += 1) {
        messageIdOf(await publish('https://example.com', { url, token, headers: { 'Svc-Delay': '1h' } }));
      }
      expect(await stage.stop()).toBe(0);
      const file = join(dataDir, 'store.mdb');
      const bytes = readFileSync(file);
      const damaged = Buffer.from(bytes).fill(0xde, 4 * 4_096);
      writeFileSync(file, damaged);
      const ended = await runStage(['--port', '0', '--data-dir', dataDir]);
      expect(await ended.exited).toBe(2);
      expect(ended.output()).toMatch(
        /^store\.mdb in \S+ is damaged \(.+\): the messages are in it\. Move the folder away, and restore the last backup/,
      );
      expect(readFileSync(file).equals(damaged)).toBe(true);
      writeFileSync(file, bytes);
      const again = await startStage({ dataDir });
      expect(await again.stop()).toBe(0);
    } finally {
      await stage.remove();
    }
  });
});
