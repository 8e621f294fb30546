import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { byNode, underWatch } from '../support/underWatch.ts';
import { identify, isRunning } from '../../local/stage/processes.ts';
import { eventually } from '../support/eventually.ts';

describe.each([
  ['this machine', underWatch],
  ['Windows', byNode],
])('a program that runs under watch as on %s', (_, watched) => {
  /** Prints its process id, and runs for ever. */
  const program = [process.execPath, '-e', 'console.error(process.pid); setInterval(() => {}, 1000)'];

  it('ends when the pipe from its parent closes', async () => {
    const { file, args } = watched(program);
    const child = spawn(file, args, { detached: true, stdio: ['pipe', 'ignore', 'pipe'] });
    const [said] = (await once(child.stderr.setEncoding('utf8'), 'data')) as [string];
    const running = identify(Number(said));
    expect(running).toBeDefined();
    const exited = once(child, 'exit');
    child.stdin.destroy();
    await exited;
    if (running === undefined) return;
    expect(
      await eventually(
        () => Promise.resolve(isRunning(running)),
        (is) => !is,
      ),
    ).toBe(false);
  });

  it('ends with its own status, together with its watcher', async () => {
    const { file, args } = watched([process.execPath, '-e', 'process.exit(7)']);
    const child = spawn(file, args, { detached: true, stdio: ['pipe', 'ignore', 'pipe'] });
    expect((await once(child, 'exit'))[0]).toBe(7);
    child.stdin.destroy();
  });

  it('that does not exist ends with an error', async () => {
    const missing = join(tmpdir(), 'no-such-program');
    expect(existsSync(missing)).toBe(false);
    const { file, args } = watched([missing]);
    const child = spawn(file, args, { detached: true, stdio: ['pipe', 'ignore', 'pipe'] });
    expect((await once(child, 'exit'))[0]).toBe(127);
    child.stdin.destroy();
  });
});
