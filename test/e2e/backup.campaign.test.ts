import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { svcQueue } from '../support/command.ts';
import { putQueue } from '../support/lanes.ts';
import { call, messageIdOf, publish, service } from '../support/publish.ts';
import type { Delivery } from '../support/receiver.ts';
import { startStage, type Stage } from '../support/stage.ts';
import { useReceiver } from '../support/useReceiver.ts';

const idOf = (delivery: Delivery): string => delivery.headers['svc-message-id'] ?? '';

describe.runIf(service.target === 'local')('a backup of the local stage', () => {
  const receiver = useReceiver();

  let folder = '';
  const stages: Stage[] = [];
  afterEach(async () => {
    for (const stage of stages.splice(0)) await stage.remove();
    if (folder !== '') rmSync(folder, { recursive: true, force: true });
  });
  const start = async (...options: Parameters<typeof startStage>): Promise<Stage> => {
    const stage = await startStage(...options);
    stages.push(stage);
    return stage;
  };

  it('that is made under load has everything accepted before it, and the restored stage continues', async () => {
    folder = mkdtempSync(join(tmpdir(), 'svc-backup-'));
    const stage = await start();
    const { url, token } = stage;
    const authorization = `Bearer ${token}`;
    // The destination is down at first, so that there are messages that wait in every way.
    let isUp = false;
    const inbox = receiver.inbox((_delivery, response) => response.writeHead(isUp ? 200 : 503).end());
    const failing = { 'Svc-Retry-Delay': '20000', 'Svc-Retries': '5' };
    const accepted = new Set<string>();
    const over = new AbortController();
    const publishUntilOver = async (at: number): Promise<void> => {
      for (let number = 0; !over.signal.aborted; number += 1) {
        const body = number % 10 === at ? 'x'.repeat(20_000) : String(number);
        const headers: Record<string, string> =
          number % 3 === 0 ? { 'Svc-Delay': '30s' } : number % 3 === 1 ? failing : { 'Svc-Delay': '20m' };
        const answer = await publish(inbox.url, { url, token, body, headers });
        accepted.add(messageIdOf(answer));
      }
    };
    const queue = '/v2/enqueue/held/';
    await putQueue('held', { parallelism: 1, paused: true }, { token, url });
    const inOrder: string[] = [];
    for (let at = 0; at < 5; at += 1) {
      inOrder.push(
        messageIdOf(await call(queue + inbox.url, { method: 'POST', headers: { authorization } }, url)),
      );
    }
    const schedule = { authorization, 'Svc-Cron': '0 */3 * * *', 'Svc-Schedule-Id': 'kept' };
    expect(
      (await call(`/v2/schedules/${inbox.url}`, { method: 'POST', headers: schedule }, url)).status,
    ).toBe(200);
    const publishers = Array.from({ length: 8 }, (_, at) => publishUntilOver(at));
    await inbox.until(() => accepted.size > 200);

    const file = join(folder, 'backup.tar.gz');
    const before = new Set(accepted);
    const made = await svcQueue(['backup', file, '--data-dir', stage.dataDir]);
    expect(made.output).toMatch(/^\S+ has the \d+ entries of /);
    expect(made.code).toBe(0);
    expect(statSync(file).mode & 0o077).toBe(0);
    expect(stage.output()).toMatch(/A backup was made, of \d+ entries\./);
    over.abort();
    await Promise.all(publishers);
    expect(accepted.size).toBeGreaterThan(before.size);
    await stage.kill();

    isUp = true;
    const seenBefore = inbox.deliveries.length;
    const dataDir = join(folder, 'restored');
    const restored = await svcQueue(['restore', file, '--data-dir', dataDir]);
    expect(restored.output).toMatch(/^\S+ has the \d+ entries of the backup of 20/);
    expect(await svcQueue(['check', '--data-dir', dataDir])).toMatchObject({ code: 0 });
    const again = await start({ dataDir, testControl: true });
    expect(again.token).toBe(token);
    await call('/v2/queues/held/resume', { method: 'POST', headers: { authorization } }, again.url);
    await again.advance(4 * 3_600_000);
    await inbox.until((deliveries) => {
      const ids = new Set(deliveries.slice(seenBefore).map(idOf));
      return [...before, ...inOrder].every((id) => ids.has(id));
    });
    const since = inbox.deliveries.slice(seenBefore);
    expect([...new Set(since.map(idOf))].filter((id) => inOrder.includes(id))).toEqual(inOrder);
    expect(since.some(({ headers }) => headers['svc-schedule-id'] === 'kept')).toBe(true);
  });

  it('can be made of a stopped stage, and is refused if it would do harm', async () => {
    folder = mkdtempSync(join(tmpdir(), 'svc-backup-'));
    const stage = await start();
    messageIdOf(
      await publish('https://example.com', {
        url: stage.url,
        token: stage.token,
        headers: { 'Svc-Delay': '1h' },
      }),
    );
    const file = join(folder, 'backup.tar.gz');
    await stage.kill();
    expect((await svcQueue(['backup', file, '--data-dir', stage.dataDir])).code).toBe(0);

    const over = await svcQueue(['restore', file, '--data-dir', stage.dataDir]);
    expect(over).toMatchObject({ code: 2, stdout: '' });
    expect(over.output).toMatch(
      / has data already: move it away, or choose another folder with --data-dir\.\n$/,
    );
    const bytes = readFileSync(file);
    const middle = Math.floor(bytes.length / 2);
    const target = join(folder, 'target');
    for (const [name, content, sentence] of [
      ['torn', bytes.subarray(0, middle), /^The backup is (damaged or )?not whole/],
      ['bent', Buffer.from(bytes).fill(0x55, middle, middle + 64), /^The backup is damaged/],
      ['other', Buffer.from('no backup'), /^The backup is damaged or not whole|^This is no backup/],
    ] as const) {
      const bad = join(folder, name);
      writeFileSync(bad, content);
      const refused = await svcQueue(['restore', bad, '--data-dir', target]);
      expect([name, refused.code]).toEqual([name, 2]);
      expect(refused.output).toMatch(sentence);
    }
    mkdirSync(join(target, 'restoring'), { recursive: true });
    const interrupted = await svcQueue(['start', '--port', '0', '--data-dir', target]);
    expect(interrupted.output).toMatch(
      /^A restore into \S+ was interrupted: run svc-queue restore again\.\n$/,
    );
    expect((await svcQueue(['restore', file, '--data-dir', target])).code).toBe(0);
    const again = await start({ dataDir: target });
    expect(again.token).toBe(stage.token);

    expect(readFileSync(file).equals(bytes)).toBe(true);
  });
});
