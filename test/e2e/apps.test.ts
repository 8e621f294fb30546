import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { root } from '../support/bundledStage.ts';
import { startReceiver, type Receiver } from '../support/receiver.ts';
import { service } from '../support/service.ts';
import { runStage } from '../support/stage.ts';

/** The lines for an application that a stage prints, and the commands of docs/apps.md that use them. */

const run = promisify(execFile);

const heading = 'For the .env file of an application:\n\n';
const isReady = (output: string): boolean => output.includes('/console. Sign in');

/** The command in the document that shows which address the published client uses. */
const addressCommand = /^node -e "(.*)"$/m.exec(readFileSync(join(root, 'docs/apps.md'), 'utf8'))?.[1] ?? '';

describe.runIf(service.target === 'local')('an application with the lines that a stage prints for it', () => {
  let receiver: Receiver;
  let folder = '';
  let stage: Awaited<ReturnType<typeof runStage>>;
  beforeAll(async () => {
    receiver = await startReceiver();
    folder = mkdtempSync(join(tmpdir(), 'svc-apps-'));
    stage = await runStage(['--port', '0', '--data-dir', join(folder, 'data')], isReady);
    const block = stage.output().split(heading)[1]?.split('\n\n')[0] ?? '';
    writeFileSync(join(folder, '.env'), `${block}\n`);
  });
  afterAll(async () => {
    stage.child.kill('SIGKILL');
    await stage.exited;
    rmSync(folder, { recursive: true });
    await receiver.close();
  });

  /** Runs a program with the variables of the file alone. */
  const withEnvFile = async (program: string): Promise<string> => {
    const { stdout } = await run(process.execPath, [`--env-file=${join(folder, '.env')}`, '-e', program], {
      cwd: root,
      env: {},
    });
    return stdout.trim();
  };

  it('has the four names that the published clients read, and nothing of the operator', () => {
    const lines = readFileSync(join(folder, '.env'), 'utf8').trim().split('\n');
    expect(lines.map((line) => line.split('=')[0])).toEqual([
      'QSTASH_URL',
      'QSTASH_TOKEN',
      'QSTASH_CURRENT_SIGNING_KEY',
      'QSTASH_NEXT_SIGNING_KEY',
    ]);
    const written = readFileSync(join(folder, 'data/env'), 'utf8').split('\n');
    expect(written.filter((line) => line.startsWith('QSTASH_'))).toEqual(lines);
  });

  it('uses the address of the stage, as the command of the page shows', async () => {
    const url = /^SVC_URL=(.*)$/m.exec(stage.output())?.[1];
    expect(addressCommand).toContain('@upstash/qstash');
    expect(await withEnvFile(addressCommand)).toBe(url);
    const without = await run(process.execPath, ['-e', addressCommand], { cwd: root, env: {} });
    expect(without.stdout.trim()).toBe('https://qstash.upstash.io');
  });
});
