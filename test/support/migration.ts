import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { text } from 'node:stream/consumers';
import { inject } from 'vitest';
import { close, listen } from '../../local/http.ts';

export interface Ran {
  readonly code: number | null;
  readonly output: string;
}

/** Runs `svc-queue migrate` with these arguments, in a folder without a local stage. */
export async function migrate(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<Ran> {
  const child = spawn(process.execPath, [inject('bundledStage'), 'migrate', ...args], {
    cwd: tmpdir(),
    env: { PATH: process.env['PATH'], ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  return { code: child.exitCode, output: `${stdout}${stderr}` };
}

/** The answer of another API: a status, headers, and a body that is sent as JSON unless it is a text. */
export interface Reply {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

export interface OtherApi {
  readonly url: string;
  /** Method and path of each request, in their order. */
  readonly asked: readonly string[];
  close(): Promise<void>;
}

/**
 * Starts an API with the test's answers.
 *
 * @param answer gets the method and path, and how many such requests came before
 */
export async function startOtherApi(answer: (asked: string, times: number) => Reply): Promise<OtherApi> {
  const asked: string[] = [];
  const { server, url } = await listen((request, response) => {
    const what = `${request.method ?? ''} ${request.url ?? ''}`;
    const {
      status = 200,
      headers = {},
      body = [],
    } = answer(what, asked.filter((one) => one === what).length);
    asked.push(what);
    request.resume().once('end', () => {
      response.writeHead(status, headers).end(typeof body === 'string' ? body : JSON.stringify(body));
    });
  });
  return {
    url,
    asked,
    close: () => close(server),
  };
}
