import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { root } from '../support/bundledStage.ts';
import { eventually } from '../support/eventually.ts';
import { call, service } from '../support/publish.ts';
import { useReceiver } from '../support/useReceiver.ts';

/** However npm ends, its stage ends, too, and finishes the attempts in flight. */

const command = ['npm', 'start', '--', '--in-memory', '--port', '0'];

interface Started {
  readonly child: ChildProcess;
  readonly url: string;
  readonly token: string;
}

async function startNpm([file = '', ...args]: readonly string[]): Promise<Started> {
  const child = spawn(file, args, { cwd: root, detached: true, stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  const valueOf = (name: string): string => new RegExp(`^${name}=(.*)$`, 'm').exec(output)?.[1] ?? '';
  await eventually(
    () => Promise.resolve(valueOf('SVC_MANAGEMENT_PASSWORD')),
    (password) => password !== '',
  );
  return { child, url: valueOf('SVC_URL'), token: valueOf('SVC_TOKEN') };
}

const isUp = (url: string): Promise<boolean> =>
  fetch(`${url}/v2/health`).then(
    () => true,
    () => false,
  );

const pidOf = ({ child: { pid } }: Started): number => {
  if (pid === undefined) throw new Error('npm did not start.');
  return pid;
};

const ways: Readonly<Record<string, (started: Started) => void>> = {
  'SIGTERM to npm': (started) => process.kill(pidOf(started), 'SIGTERM'),
  'SIGKILL to npm': (started) => process.kill(pidOf(started), 'SIGKILL'),
  'SIGINT to all of its group, as Ctrl-C sends it': (started) => process.kill(-pidOf(started), 'SIGINT'),
  'SIGHUP to all of its group, as a closed terminal sends it': (started) =>
    process.kill(-pidOf(started), 'SIGHUP'),
};

describe.runIf(service.target === 'local' && process.platform !== 'win32')('a stage of npm start', () => {
  const receiver = useReceiver();

  it.each(Object.keys(ways))('ends at %s, after the attempt in flight', async (way) => {
    const started = await startNpm(command);
    const { url, token } = started;
    let answer: (() => void) | undefined;
    let isAborted = false;
    const inbox = receiver.inbox((_delivery, response) => {
      response.once('close', () => {
        isAborted = !response.writableFinished;
      });
      answer = () => response.writeHead(200).end();
    });
    const init = { method: 'POST', body: 'x', headers: { authorization: `Bearer ${token}` } };
    expect((await call(`/v2/publish/${inbox.url}`, init, url)).status).toBe(200);
    await eventually(
      () => Promise.resolve(inbox.deliveries),
      ({ length }) => length === 1,
    );
    ways[way]?.(started);
    // The stage only waits for this answer, and still accepts messages.
    await eventually(
      async () => (await fetch(`${url}/v2/ready`)).status,
      (status) => status === 503,
    );
    expect(await isUp(url)).toBe(true);
    expect(isAborted).toBe(false);
    answer?.();
    await eventually(
      () => groupIsEmpty(pidOf(started)),
      (is) => is,
    );
    expect(isAborted).toBe(false);
  });

  it('outlives a script that starts it in the background, until it is told to end', async () => {
    const script = `${command.join(' ')} & echo "NPM=$!"`;
    const shell = await startNpm(['/bin/sh', '-c', `${script}; exec 1>&2`]);
    if (shell.child.exitCode === null) await once(shell.child, 'exit');
    expect(await isUp(shell.url)).toBe(true);
    process.kill(-pidOf(shell), 'SIGTERM');
    await eventually(
      () => isUp(shell.url),
      (is) => !is,
    );
    await eventually(
      () => groupIsEmpty(pidOf(shell)),
      (is) => is,
    );
  });
});

/** Whether no process of a group is left, except zombies. */
async function groupIsEmpty(group: number): Promise<boolean> {
  const ps = spawn('ps', ['-eo', 'pgid=,stat='], { stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  for await (const text of ps.stdout.setEncoding('utf8')) output += String(text);
  return !output
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .some(([pgid, stat = '']) => pgid === String(group) && !stat.startsWith('Z'));
}
