/**
 * A thread of its own for functions: a process has one thread for all its code, and on AWS no two functions share a process. The
 * functions are called with JSON and answer with it, as on AWS, and their clients of AWS have connections of their own.
 */
import { parentPort, Worker } from 'node:worker_threads';
import * as z from 'zod/mini';
import { handlerModules, type FunctionName } from './handlers.ts';
import { loadFunction, type FunctionOptions, type LambdaFunction } from './lambda.ts';

const call = z.object({
  id: z.number(),
  name: z.custom<FunctionName>((name) => typeof name === 'string' && name in handlerModules),
  options: z.object({ region: z.string(), timeoutMs: z.number() }),
  /** JSON; undefined loads the function and does not invoke it. */
  event: z.optional(z.string()),
});
type Call = z.infer<typeof call>;

const answer = z.object({
  id: z.number(),
  /** JSON, of what the function has returned. */
  result: z.optional(z.string()),
  error: z.optional(z.instanceof(Error)),
});
type Answer = z.infer<typeof answer>;

export interface Thread {
  /** Loads a function there. */
  readonly load: (name: FunctionName, options: FunctionOptions) => Promise<LambdaFunction>;
  /** Ends it at once. */
  readonly end: () => Promise<void>;
}

interface Settling {
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * @param script what the thread runs; it has to call {@link answerCalls}
 * @param onFatal is told of an error that ended the thread
 */
export function startThread(script: string, onFatal: (error: Error) => void): Thread {
  const worker = new Worker(script);
  const open = new Map<number, Settling>();
  let count = 0;
  let isEnding = false;

  worker.on('message', (message: unknown) => {
    const { id, result, error } = answer.parse(message);
    const settling = open.get(id);
    open.delete(id);
    if (error === undefined) settling?.resolve(result === undefined ? undefined : JSON.parse(result));
    else settling?.reject(error);
  });
  const fail = (error: Error): void => {
    for (const { reject } of open.values()) reject(error);
    open.clear();
    if (!isEnding) onFatal(error);
  };
  worker.on('error', fail);
  worker.on('exit', (code) => {
    fail(new Error(`The thread of the functions ended with ${code}.`));
  });

  function ask(question: Omit<Call, 'id'>): Promise<unknown> {
    count += 1;
    const id = count;
    return new Promise((resolve, reject) => {
      open.set(id, { resolve, reject });
      worker.postMessage({ id, ...question } satisfies Call);
    });
  }

  return {
    load: async (name, options) => {
      await ask({ name, options });
      return { name, invoke: (event) => ask({ name, options, event: JSON.stringify(event) }) };
    },
    end: async () => {
      isEnding = true;
      await worker.terminate();
    },
  };
}

/** Answers the calls of the thread that started this one. */
export function answerCalls(): void {
  const port = parentPort;
  if (port === null) throw new Error('This is no thread of another.');
  const loaded = new Map<FunctionName, Promise<LambdaFunction>>();
  const run = async ({ name, options, event }: Call): Promise<string | undefined> => {
    const loading = loaded.get(name) ?? loadFunction(name, options);
    loaded.set(name, loading);
    const { invoke } = await loading;
    return event === undefined ? undefined : JSON.stringify(await invoke(JSON.parse(event)));
  };
  port.on('message', (message: unknown) => {
    const asked = call.parse(message);
    run(asked)
      .then((result): Answer => ({ id: asked.id, result }))
      .catch((error: unknown): Answer => ({
        id: asked.id,
        error: error instanceof Error ? error : new Error(String(error)),
      }))
      .then((given) => {
        port.postMessage(given);
      })
      // An answer that cannot be posted ends the thread, and the stage with it.
      .catch((error: unknown) => {
        setImmediate(() => {
          throw error;
        });
      });
  });
}
