/** Follows the pages of `docs/quick-starts` as a reader does. */
import { execFile, spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { connect } from 'node:net';
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { root } from '../support/bundledStage.ts';
import { eventually } from '../support/eventually.ts';
import { limitForHangsMs, limitForInstallsMs } from '../support/limits.ts';
import { freePort } from '../support/freePort.ts';

const folder = join(root, 'docs/quick-starts');

export const quickStarts: readonly string[] = readdirSync(folder).map((file) => file.replace('.md', ''));

/** The programs that pages need besides Node.js. */
const programs: Readonly<Record<string, string>> = { fastapi: 'python3', go: 'go' };

/** @returns the program that a page needs and this machine lacks, if any */
export function missingProgram(name: string): string | undefined {
  const program = programs[name];
  return program !== undefined && spawnSync(program, ['--help']).error !== undefined ? program : undefined;
}

interface Page {
  /** Commands that run once. */
  readonly install: string;
  readonly files: readonly { readonly name: string; readonly text: string }[];
  /** The server's command; undefined for a Lambda function. */
  readonly serve: string | undefined;
  /** The command that makes the app publish. */
  readonly publish: string;
  /** The path at which the app receives. */
  readonly path: string;
  /** The status for a request without a signature. */
  readonly refusal: number;
}

/** Reads a page: the code blocks below its headings, with another port instead of 3000. */
function readPage(name: string, port: number): Page {
  const text = readFileSync(join(folder, `${name}.md`), 'utf8').replaceAll(/\b3000\b/g, String(port));
  const blocksBelow = (heading: string): readonly string[] => {
    const section = text.split(/^## /m).find((one) => one.startsWith(heading)) ?? '';
    return [...section.matchAll(/^```\w+\n([^]*?)^```$/gm)].map(([, block = '']) => block);
  };
  const run = blocksBelow('Run');
  return {
    install: blocksBelow('Install').join(''),
    files: blocksBelow('Publish and receive').map((block) => ({
      name: /^(?:\/\/|#) (\S+)\n/.exec(block)?.[1] ?? '',
      text: block,
    })),
    serve: run.length > 1 ? run[0] : undefined,
    publish: run.at(-1) ?? '',
    path: /\/(?:\w+\/)*orders\b(?=` without)/.exec(text)?.[0] ?? '/orders',
    refusal: Number(/answered\s+with (\d+)/.exec(text)?.[1]),
  };
}

/** Whether a port of this machine is in use. */
const isListening = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, 'localhost');
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => {
      resolve(false);
    });
  });

/** Ends a process and its descendants. */
function endGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch (error) {
    // The server has already ended.
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}

/** Follows a page: installs, serves, publishes, waits for the verified delivery, and sends a forged one. */
export async function follow(name: string, env: Readonly<Record<string, string>>): Promise<void> {
  const port = await freePort();
  const page = readPage(name, port);
  const home = join(root, '.cache/conformance/quick-starts', name);
  const ready = join(home, 'installed');
  const all = { ...process.env, ...env, NEXT_TELEMETRY_DISABLED: '1', APP_URL: `http://localhost:${port}` };
  if (!existsSync(ready) || readFileSync(ready, 'utf8') !== page.install) {
    rmSync(home, { recursive: true, force: true });
    mkdirSync(home, { recursive: true });
    const options = { cwd: home, env: all, timeout: limitForInstallsMs };
    await promisify(execFile)('bash', ['-ec', page.install], options);
    writeFileSync(ready, page.install);
  }
  const app = join(home, 'orders');
  for (const { name: file, text } of page.files) {
    mkdirSync(dirname(join(app, file)), { recursive: true });
    writeFileSync(join(app, file), text);
  }
  const lambda = [process.execPath, '--import', 'tsx', join(import.meta.dirname, 'lambda.ts')] as const;
  const [command, ...args] =
    page.serve === undefined
      ? [...lambda, pathToFileURL(join(app, 'index.mjs')).href, String(port)]
      : ['bash', '-ec', page.serve];
  const server = spawn(command, args, {
    cwd: page.serve === undefined ? root : app,
    env: all,
    detached: true,
  });
  let output = '';
  for (const stream of [server.stdout, server.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  try {
    await eventually(
      () => isListening(port),
      (listens) => listens || server.exitCode !== null,
    );
    const { stdout } = await promisify(execFile)('bash', ['-ec', page.publish], {
      env: all,
      timeout: limitForHangsMs,
    });
    if (!/msg_/.test(stdout)) throw new Error(`It published nothing: ${stdout}`);
    await eventually(
      () => Promise.resolve(output),
      (text) => text.includes('order 7'),
    );
    const forge = (headers: Readonly<Record<string, string>>): Promise<Response> =>
      fetch(`http://localhost:${port}${page.path}`, { method: 'POST', headers, body: '{"id":8}' });
    const { status } = await forge({});
    if (status !== page.refusal) throw new Error(`A delivery without a signature got ${status}.`);
    const forged = await forge({ 'upstash-signature': 'wrong' });
    if (forged.ok) throw new Error('A delivery with a wrong signature was taken.');
    if (output.includes('order 8')) throw new Error('A forged delivery was taken.');
  } catch (error) {
    throw new Error(`${String(error)}\n${output}`, { cause: error });
  } finally {
    endGroup(server);
  }
}
