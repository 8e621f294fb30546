/** Measures in a separate process that runs nothing else: no TypeScript loader and no stand-ins. */
import { spawn } from 'node:child_process';
import { on, once } from 'node:events';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { buildSync } from 'esbuild';
import type * as z from 'zod/mini';
import { bundle } from '../lib/bundle.ts';
import { functionMemoryMb } from '../lambdas/aws/resources.ts';
import { invoked, loaded } from './children/protocol.ts';

type Program = 'invoke' | 'functions' | 'bullmq';

const compiled = new Map<Program, string>();

/**
 * Compiles a child's program into a file, and returns the path. It is written only once, because a starting child may be
 * reading it.
 */
export function compileChild(name: Program): string {
  const outfile = join(import.meta.dirname, `../.cache/bench/${name}.mjs`);
  if (compiled.has(name)) return outfile;
  compiled.set(name, outfile);
  buildSync({
    entryPoints: [join(import.meta.dirname, `children/${name}.ts`)],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    minify: true,
    mainFields: ['module', 'main'],
    // CommonJS dependencies call `require` for Node's modules, which ES modules lack.
    banner: {
      js: "import{createRequire}from'node:module';const require=createRequire(import.meta.url);",
    },
    logLevel: 'error',
  });
  return outfile;
}

/** Variables that Lambda sets. With them, the log and the requests are as large as on AWS. */
const asDeployed = {
  AWS_LAMBDA_FUNCTION_NAME: 'Svc-us-east-1-Service-DeliverShort',
  POWERTOOLS_LOG_LEVEL: 'INFO',
  POWERTOOLS_METRICS_DISABLED: 'false',
  POWERTOOLS_SERVICE_NAME: 'DeliverShort',
  _X_AMZN_TRACE_ID: 'Root=1-6737c1a1-2f6b6d0e4b7a8c9d0e1f2a3b;Parent=53995c3f42cd8ad8;Sampled=0',
};

type Variables = Readonly<Record<string, string>>;

/** Starts a program of `children/` that sends messages of known shapes, by itself or as answers. */
export function startChild(
  program: Program,
  args: readonly string[],
  variables: Variables = {},
  nodeOptions: readonly string[] = [],
) {
  const child = spawn(process.execPath, [...nodeOptions, compileChild(program), ...args], {
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
    env: { ...process.env, ...asDeployed, ...variables },
  });
  const { pid, stdout } = child;
  if (pid === undefined || stdout === null) throw new Error('The measuring process did not start.');
  let outputBytes = 0;
  stdout.on('data', (chunk: Buffer) => (outputBytes += chunk.length));
  const messages = on(child, 'message', { close: ['exit'] });
  // The event 'close' is not used, because it doesn't occur if the parent disconnects first.
  const closed = Promise.all([once(child, 'exit'), once(stdout, 'close')]);
  return {
    pid,
    /**
     * Waits for the next message, which is the answer to a task if one is sent.
     *
     * @throws Error if the process has ended, with its own error on stderr
     */
    next: async <Shape extends z.ZodMiniType>(shape: Shape, task?: object): Promise<z.infer<Shape>> => {
      if (task !== undefined) child.send(task);
      const result: IteratorResult<unknown[], unknown> = await messages.next();
      if (result.done === true) throw new Error(`The measuring process ended with ${child.exitCode}.`);
      return shape.parse(result.value[0]);
    },
    /**
     * Ends the process.
     *
     * @returns the bytes of its standard output, which is the function's log
     */
    end: async (): Promise<number> => {
      if (child.connected) child.disconnect();
      await closed;
      return outputBytes;
    },
  };
}

export type Invoker = Awaited<ReturnType<typeof startInvoker>>;

/**
 * Starts a separate process that calls a bundled handler. Node has the options with which Lambda starts it: a tenth of the
 * memory for young objects, in two halves. With Node's default of 16 MB, the garbage collector would run more often.
 *
 * @param variables in addition to this process's and Lambda's
 */
export async function startInvoker(handler: string, variables?: Variables, memoryMb = functionMemoryMb) {
  const { href } = pathToFileURL(join(bundle(handler), 'index.mjs'));
  const child = startChild('invoke', [href], variables, [
    `--max-semi-space-size=${Math.floor(memoryMb / 20)}`,
    `--max-old-space-size=${memoryMb - Math.floor(memoryMb / 10)}`,
  ]);
  const load = await child.next(loaded);
  let peakMb = 0;
  return {
    ...child,
    load,
    /**
     * Calls the handler with each event in turn.
     *
     * @returns the CPU milliseconds
     */
    invoke: async (events: readonly object[]): Promise<number> => {
      const result = await child.next(invoked, { events });
      ({ peakMb } = result);
      return result.cpuMs;
    },
    /** The process's peak memory up to its last event, in MB. */
    peakMb: () => peakMb,
  };
}
