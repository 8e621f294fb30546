/** Measures in a process of its own, which runs nothing else: no TypeScript loader, no stand-in. */
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

type Program = 'import' | 'invoke' | 'deliver' | 'api' | 'bullmq';

const compiled = new Map<Program, string>();

/** Translates a child's program into one file, and returns that. It is written once: a child that starts may be reading it. */
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

/**
 * The options that Lambda's runtime starts Node with, for functions of so much memory: a tenth of the memory for young objects, in two
 * halves. With Node's own 16 MB its garbage collector would run more often than there.
 */
const asOnLambda = (memoryMb: number = functionMemoryMb): readonly string[] => [
  `--max-semi-space-size=${Math.floor(memoryMb / 20)}`,
  `--max-old-space-size=${memoryMb - Math.floor(memoryMb / 10)}`,
];

type Variables = Readonly<Record<string, string>>;

/** Starts a program that was compiled, and that sends and gets messages. */
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
 * Has a process of its own do one task.
 *
 * @throws Error when the process ends without a result
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

/** A process of its own that calls the handler of a bundle. */
export interface Invoker {
  /**
   * Calls the handler with one event after the other.
   *
   * @returns the CPU milliseconds that this took
   * @throws Error when the process has ended: what ended it stands on stderr
   */
  invoke(events: readonly object[]): Promise<number>;
  /**
   * Ends the process.
   *
   * @returns the bytes of its standard output, which is a function's log
   */
  end(): Promise<number>;
  /** The most memory that the process had until its last event ended; MB. */
  peakMb(): number;
}

/**
 * @param bundle the URL of a bundle's `index.mjs`
 * @param variables beside those of this process, and those of Lambda
 * @param memoryMb the memory of the function
 */
export function startInvoker(bundle: string, variables: Variables = {}, memoryMb?: number): Invoker {
  const child = spawnChild(compileChild('invoke'), [bundle], variables, asOnLambda(memoryMb));
  let outputBytes = 0;
  let peakMb = 0;
  child.stdout.on('data', (chunk: Buffer) => (outputBytes += chunk.length));
  // Not the event 'close', which does not come where the parent disconnects first.
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
