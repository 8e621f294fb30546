/** Measures in a process of its own, which runs nothing else: no TypeScript loader, no stand-in. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { buildSync } from 'esbuild';
import type * as z from 'zod/mini';
import { bundle } from '../lib/bundle.ts';

const root = join(import.meta.dirname, '..');

/** Translates a child's program into one file, and returns that. */
export function compileChild(name: 'import' | 'invoke' | 'deliver' | 'api'): string {
  const outfile = join(root, `.cache/bench/${name}.mjs`);
  buildSync({
    entryPoints: [join(import.meta.dirname, `children/${name}.ts`)],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    minify: true,
    mainFields: ['module', 'main'],
    // CommonJS dependencies call `require` for Node's own modules; an ES module has none.
    banner: {
      js: "import{createRequire}from'node:module';const require=createRequire(import.meta.url);",
    },
    logLevel: 'error',
  });
  return outfile;
}

/** The URL of a handler's bundle, as its process imports it. */
export const bundleUrl = (handler: string): string => pathToFileURL(join(bundle(handler), 'index.mjs')).href;

/** Variables that Lambda sets besides the stage's environment. With them the log is as long as there, and requests as large. */
const asDeployed = {
  AWS_LAMBDA_FUNCTION_NAME: 'Svc-us-east-1-Service-DeliverShort',
  POWERTOOLS_LOG_LEVEL: 'INFO',
  POWERTOOLS_METRICS_DISABLED: 'false',
  POWERTOOLS_SERVICE_NAME: 'DeliverShort',
  _X_AMZN_TRACE_ID: 'Root=1-6737c1a1-2f6b6d0e4b7a8c9d0e1f2a3b;Parent=53995c3f42cd8ad8;Sampled=0',
};

export interface ChildResult<Result> {
  readonly result: Result;
  /** The size of its standard output, which is a function's log. */
  readonly outputBytes: number;
}

/** @throws Error when the process ends without a result */
export async function runChild<Result extends z.ZodMiniType>(
  program: string,
  task: object,
  shape: Result,
): Promise<ChildResult<z.infer<Result>>> {
  const child = spawn(process.execPath, [program], {
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
    env: { ...process.env, ...asDeployed },
  });
  let message: unknown;
  let outputBytes = 0;
  child.stdout?.on('data', (chunk: Buffer) => (outputBytes += chunk.length));
  child.once('message', (received) => (message = received));
  child.send(task);
  await once(child, 'close');
  if (message === undefined) throw new Error(`The measuring process ended with ${child.exitCode}.`);
  return { result: shape.parse(message), outputBytes };
}
