import { Receiver } from '@upstash/qstash';
import { jwtVerify } from 'jose';
import { execFile, execFileSync, spawn } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import * as z from 'zod/mini';
import { signatureHeaders } from '../../lambdas/delivery/rules/signature.ts';
import { limitForInstallsMs } from '../support/limits.ts';
import { findPython, installInto } from '../support/python.ts';

/** The published clients and their JWT libraries, without a tolerance. */

const cache = resolve(import.meta.dirname, '../../.cache/receiver-clocks');
const keys = {
  current: 'sig_current_0123456789abcdef0123456789',
  next: 'sig_next_0123456789abcdef0123456789',
};
const url = 'https://app.example/orders?id=1';
const body = '{"amount":12}';

/** Seconds by which a receiver’s clock is ahead of the service’s. */
const taken = [-55, -30, -1, 0, 1, 60, 290];
/** Far outside, because another program may take a while to start. */
const refused = [-3600, 3600];

const signatureAt = (signedAt: number): string =>
  signatureHeaders(keys, {
    messageId: 'msg_1',
    url,
    body: Buffer.from(body),
    dialects: ['Upstash'],
    signedAt,
  }).find(([name]) => name === 'Upstash-Signature')?.[1] ?? '';

describe('in JavaScript, the window of a receiver’s clock', () => {
  const signedAt = Date.UTC(2026, 10, 26, 12);
  const signature = signatureAt(signedAt);

  afterEach(() => {
    vi.useRealTimers();
  });

  async function verified(aheadSeconds: number): Promise<unknown[]> {
    const currentDate = new Date(signedAt + aheadSeconds * 1_000);
    vi.useFakeTimers({ toFake: ['Date'], now: currentDate });
    const receiver = new Receiver({ currentSigningKey: keys.current, nextSigningKey: keys.next });
    const results = await Promise.allSettled([
      receiver.verify({ signature, body, url }),
      // With a maximum age, jose refuses tokens that were issued in the future.
      jwtVerify(signature, Buffer.from(keys.current), {
        currentDate,
        issuer: 'Upstash',
        subject: url,
        maxTokenAge: 600,
      }),
    ]);
    return results.map(({ status }) => status);
  }

  it.each([...taken, -60, 299])('includes %i s', async (ahead) => {
    expect(await verified(ahead)).toEqual(['fulfilled', 'fulfilled']);
  });

  it.each([...refused, -61, 300])('excludes %i s', async (ahead) => {
    expect(await verified(ahead)).toEqual(['rejected', 'rejected']);
  });
});

const resultsShape = z.array(z.array(z.union([z.literal(true), z.string()])));

/** Signs once the program is ready, so that a slow start has no effect. */
async function verifiedBy(command: string, args: readonly string[]): Promise<z.infer<typeof resultsShape>> {
  const program = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'], timeout: limitForInstallsMs });
  const lines = createInterface({ input: program.stdout })[Symbol.asyncIterator]();
  const line = async (): Promise<string> => {
    const next = await lines.next();
    if (next.done === true) throw new Error(`${command} ended without a result.`);
    return next.value;
  };
  expect(await line()).toBe('ready');
  const now = Date.now();
  const signatures = [...taken, ...refused].map((ahead) => signatureAt(now - ahead * 1_000));
  const input = { currentSigningKey: keys.current, nextSigningKey: keys.next, url, body, signatures };
  program.stdin.end(`${JSON.stringify(input)}\n`);
  return resultsShape.parse(JSON.parse(await line()));
}

function hasTheWindow(install: () => Promise<readonly [string, ...string[]]>): void {
  let results: z.infer<typeof resultsShape> = [];
  beforeAll(async () => {
    const [command, ...args] = await install();
    results = await verifiedBy(command, args);
  }, 2 * limitForInstallsMs);

  it.each(taken.map((ahead, index) => [ahead, index]))('has %i s', (_ahead, index) => {
    expect(results[index]).toEqual([true, true]);
  });

  it.each(refused.map((ahead, index) => [ahead, taken.length + index]))('does not have %i s', (_, index) => {
    expect(results[index]).toEqual([expect.any(String), expect.any(String)]);
  });
}

const python = findPython();

describe.skipIf(python === undefined)('in Python, the window of a receiver’s clock', () => {
  hasTheWindow(async () => {
    const interpreter = await installInto(join(cache, 'python'), python ?? '', ['qstash==3.4.0']);
    return [interpreter, '-B', resolve(import.meta.dirname, 'receiver_clocks.py')];
  });
});

function hasGo(): boolean {
  try {
    execFileSync('go', ['version'], { stdio: 'ignore' });
    return true;
  } catch {
    // It is not on the PATH.
    return false;
  }
}

async function buildGo(): Promise<string> {
  const home = join(cache, 'go');
  const ready = join(home, 'installed');
  const run = (...args: string[]) =>
    promisify(execFile)('go', args, { cwd: home, timeout: limitForInstallsMs });
  if (!existsSync(ready)) {
    rmSync(home, { recursive: true, force: true });
    mkdirSync(home, { recursive: true });
    await run('mod', 'init', 'receiver');
    await run('get', 'github.com/upstash/qstash-go@v1.0.0');
    writeFileSync(ready, '');
  }
  copyFileSync(resolve(import.meta.dirname, 'receiver_clocks.go'), join(home, 'main.go'));
  await run('build', '-o', 'receiver', '.');
  return join(home, 'receiver');
}

describe.skipIf(!hasGo())('in Go, the window of a receiver’s clock', () => {
  hasTheWindow(async () => [await buildGo()]);
});
