/** Measures in a separate process that runs nothing else: no TypeScript loader and no stand-ins. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { buildSync } from 'esbuild';
import type * as z from 'zod/mini';
import { bundle } from '../lib/bundle.ts';
import { functionMemoryMb } from '../lambdas/aws/resources.ts';
import { invokeResult } from './children/protocol.ts';

const root = join(import.meta.dirname, '..');

type Program = 'import' | 'invoke' | 'functions' | 'bullmq';

const compiled = new Map<Program, string>();

/**
 * Compiles a child's program into a file, and returns the path. It is written only once, because a starting child may be
 * reading it.
 */
export function compileChild(name: Program): string {
  const file = compiled.get(name) ?? compile(name);
  compiled.set(name, file);
  return file;
}

function compile(name: Program): string {
  const outfile = join(root, `.cache/bench/${name}.mjs`);
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

/** The URL under which a process imports a handler's bundle. */
export const bundleUrl = (handler: string): string => pathToFileURL(join(bundle(handler), 'index.mjs')).href;

/** Variables that Lambda sets. They make the log and the requests as large as on AWS. */
const asDeployed = {
  AWS_LAMBDA_FUNCTION_NAME: 'Svc-us-east-1-Service-DeliverShort',
  POWERTOOLS_LOG_LEVEL: 'INFO',
  POWERTOOLS_METRICS_DISABLED: 'false',
  POWERTOOLS_SERVICE_NAME: 'DeliverShort',
  _X_AMZN_TRACE_ID: 'Root=1-6737c1a1-2f6b6d0e4b7a8c9d0e1f2a3b;Parent=53995c3f42cd8ad8;Sampled=0',
};

/**
 * The options with which Lambda starts Node: a tenth of the memory for young objects, in two halves. With Node's default of 16
 * MB, the garbage collector would run more often.
 */
const asOnLambda = (memoryMb: number = functionMemoryMb): readonly string[] => [
  `--max-semi-space-size=${Math.floor(memoryMb / 20)}`,
  `--max-old-space-size=${memoryMb - Math.floor(memoryMb / 10)}`,
];

type Variables = Readonly<Record<string, string>>;

/** Starts a compiled program that sends and receives messages. */
export function spawnChild(
  program: string,
  args: readonly string[] = [],
  variables: Variables = {},
  nodeOptions: readonly string[] = [],
) {
  const child = spawn(process.execPath, [...nodeOptions, program, ...args], {
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
    env: { ...process.env, ...asDeployed, ...variables },
  });
  const { stdout } = child;
  if (stdout === null) throw new Error('The measuring process has no standard output.');
  return Object.assign(child, { stdout });
}

/**
 * Runs one task in a separate process.
 *
 * @throws Error if the process ends without a result
 */
export async function runChild<Result extends z.ZodMiniType>(
  program: string,
  task: object,
  shape: Result,
): Promise<z.infer<Result>> {
  const child = spawnChild(program, [], {}, asOnLambda());
  child.stdout.resume();
  let message: unknown;
  child.once('message', (received) => (message = received));
  child.send(task);
  await once(child, 'close');
  if (message === undefined) throw new Error(`The measuring process ended with ${child.exitCode}.`);
  return shape.parse(message);
}

/** A separate process that calls a bundle's handler. */
export interface Invoker {
  /**
   * Calls the handler with each event in turn.
   *
   * @returns the CPU milliseconds
   * @throws Error if the process has ended, with its own error on stderr
   */
  invoke(events: readonly object[]): Promise<number>;
  /**
   * Ends the process.
   *
   * @returns the bytes of its standard output, which is the function's log
   */
  end(): Promise<number>;
  /** The process's peak memory up to its last event, in MB. */
  peakMb(): number;
}

/**
 * @param bundle the URL of a bundle's `index.mjs`
 * @param variables in addition to this process's and Lambda's
 * @param memoryMb the function's memory
 */
export function startInvoker(bundle: string, variables: Variables = {}, memoryMb?: number): Invoker {
  const child = spawnChild(compileChild('invoke'), [bundle], variables, asOnLambda(memoryMb));
  let outputBytes = 0;
  let peakMb = 0;
  child.stdout.on('data', (chunk: Buffer) => (outputBytes += chunk.length));
  // The event 'close' is not used, because it doesn't occur if the parent disconnects first.
  const closed = Promise.all([once(child, 'exit'), once(child.stdout, 'close')]).then(() => undefined);
  return {
    invoke: async (events) => {
      const answered = once(child, 'message').then(([message]: unknown[]) => message);
      child.send({ events });
      const answer = await Promise.race([answered, closed]);
      if (answer === undefined) throw new Error(`The measuring process ended with ${child.exitCode}.`);
      const result = invokeResult.parse(answer);
      ({ peakMb } = result);
      return result.cpuMs;
    },
    peakMb: () => peakMb,
    end: async () => {
      if (child.connected) child.disconnect();
      await closed;
      return outputBytes;
    },
  };
}
