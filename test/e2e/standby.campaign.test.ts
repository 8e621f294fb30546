import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { afterEach, describe, expect, inject, it } from 'vitest';
import { svcQueue } from '../support/command.ts';
import { eventually } from '../support/eventually.ts';
import { messageIdOf, publish, service } from '../support/publish.ts';
import type { Delivery } from '../support/receiver.ts';
import { randomOf } from '../support/simulatedClock.ts';
import { startStage, type Stage } from '../support/stage.ts';
import { useReceiver } from '../support/useReceiver.ts';

const idOf = (delivery: Delivery): string => delivery.headers['svc-message-id'] ?? '';

describe.runIf(service.target === 'local')('a standby of the local stage', () => {
  const receiver = useReceiver();

  let home = '';
  const stages: Stage[] = [];
  const running: ChildProcess[] = [];
  afterEach(async () => {
    for (const child of running.splice(0)) child.kill('SIGKILL');
    for (const stage of stages.splice(0)) await stage.remove();
    if (home !== '') rmSync(home, { recursive: true, force: true });
  });
  const start = async (...options: Parameters<typeof startStage>): Promise<Stage> => {
    const stage = await startStage(...options);
    stages.push(stage);
    return stage;
  };
  const run = (...args: readonly string[]): ChildProcess => {
    const child = spawn(process.execPath, [inject('bundledStage'), ...args], { stdio: 'inherit' });
    running.push(child);
    return child;
  };
  const end = async (child: ChildProcess, signal: NodeJS.Signals): Promise<number | null> => {
    if (child.exitCode === null && child.signalCode === null) {
      const exited = once(child, 'exit');
      child.kill(signal);
      await exited;
    }
    return child.exitCode;
  };

  it.each([1, 2])(
    'has what was accepted before its last file, at whichever moment a process was killed (processes: %i)',
    async (processes) => {
      home = mkdtempSync(join(tmpdir(), 'svc-standby-'));
      const [folder, standby] = [join(home, '東京'), join(home, 'standby')];
      const random = randomOf(processes);
      let stage = await start({ args: ['--processes', String(processes)] });
      let startedAt = 0;
      const inbox = receiver.inbox();
      const accepted = new Map<string, number>();
      const over = new AbortController();
      const publishUntilOver = async (): Promise<void> => {
        for (let number = 0; !over.signal.aborted; number += 1) {
          const headers: Record<string, string> = number % 3 === 0 ? { 'Svc-Delay': '20m' } : {};
          // A killed stage does not answer.
          const answer = await publish(inbox.url, {
            url: stage.url,
            token: stage.token,
            body: number % 10 === 0 ? 'x'.repeat(20_000) : `東京 ${number}`,
            headers,
          }).catch(() => undefined);
          if (answer?.status === 200) accepted.set(messageIdOf(answer), Date.now());
          else await setTimeout(100);
        }
      };
      const publishers = Array.from({ length: 4 }, publishUntilOver);
      const followArgs = ['backup', '--follow', folder, '--every', '1', '--data-dir', stage.dataDir] as const;
      const restoreArgs = ['restore', '--follow', folder, '--data-dir', standby] as const;
      let [follower, restorer] = [run(...followArgs), run(...restoreArgs)];
      for (let round = 0; round < 12; round += 1) {
        await setTimeout(500 + random() * 2_500);
        if (round % 3 !== 0) {
          await end(follower, 'SIGKILL');
          follower = run(...followArgs);
        }
        if (round % 3 !== 1) {
          await end(restorer, 'SIGKILL');
          restorer = run(...restoreArgs);
        }
        if (round === 5 || round === 8) {
          await stage.kill();
          stage = await start({ dataDir: stage.dataDir, args: ['--processes', String(processes)] });
          startedAt = Date.now();
        }
      }
      const last = (): string => readdirSync(folder).findLast((name) => name.endsWith('.changes')) ?? '';
      // Attempts that no kill interrupted are recorded soon after their answer, and the record is in the next
      // file.
      const done = new Set(inbox.deliveries.map(idOf).filter((id) => (accepted.get(id) ?? 0) > startedAt));
      for (let file = 0; file < 3; file += 1) {
        const before = last();
        await eventually(
          () => Promise.resolve(last()),
          (name) => name !== before,
        );
      }
      await stage.kill();
      await end(follower, 'SIGKILL');
      over.abort();
      await Promise.all(publishers);

      // A file contains everything that was accepted before it got its name, except for the last moment.
      const until = statSync(join(folder, last())).mtimeMs - 1_000;
      const delivered = new Set(inbox.deliveries.map(idOf));
      const deliveredBefore = inbox.deliveries.length;
      expect(await end(restorer, 'SIGTERM')).toBe(0);
      expect(existsSync(join(standby, 'following'))).toBe(false);
      expect(await svcQueue(['check', '--data-dir', standby])).toMatchObject({ code: 0 });
      const again = await start({ dataDir: standby, testControl: true });
      await again.advance(3_600_000);
      const kept = [...accepted].filter(([, at]) => at < until).map(([id]) => id);
      expect(kept.length).toBeGreaterThan(100);
      await inbox.until((deliveries) => {
        const ids = new Set(deliveries.map(idOf));
        return kept.every((id) => ids.has(id));
      });
      expect(kept.some((id) => !delivered.has(id))).toBe(true);
      expect(done.size).toBeGreaterThan(0);
      expect(inbox.deliveries.slice(deliveredBefore).filter((one) => done.has(idOf(one)))).toEqual([]);
    },
  );

  it('has everything if all are ended in order, and can be followed itself', async () => {
    home = mkdtempSync(join(tmpdir(), 'svc-standby-'));
    const [folder, standby] = [join(home, 'folder'), join(home, 'standby')];
    const stage = await start();
    const follower = run('backup', '--follow', folder, '--every', '3600', '--data-dir', stage.dataDir);
    const restorer = run('restore', '--follow', folder, '--data-dir', standby);
    await eventually(
      () => Promise.resolve(existsSync(join(standby, 'following', 'last'))),
      (isThere) => isThere,
    );
    const refused = await svcQueue(['start', '--port', '0', '--data-dir', standby]);
    expect(refused).toMatchObject({ code: 2 });
    expect(refused.output).toContain(`already uses ${standby}`);
    const inbox = receiver.inbox();
    const { url, token } = stage;
    const sent = await publish(inbox.url, { url, token, body: '東京', headers: { 'Svc-Delay': '1h' } });
    await stage.stop();
    expect(await end(follower, 'SIGTERM')).toBe(0);
    expect(await end(restorer, 'SIGINT')).toBe(0);
    const again = await start({ dataDir: standby, testControl: true });
    const next = await svcQueue(['backup', '--follow', folder, '--once', '--data-dir', standby]);
    expect(next.stdout).toMatch(/^\S+ has a new base of \d+\.\d MB\. Files with changes follow it\.\n$/);
    await again.advance(2 * 3_600_000);
    await inbox.until((deliveries) => deliveries.some((one) => idOf(one) === messageIdOf(sent)));
  });
});
