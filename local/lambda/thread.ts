/**
 * A thread of its own for functions: a process has one thread for all its code, and on AWS no two functions share a process. The
 * functions are called with JSON and answer with it, as on AWS, and their clients of AWS have connections of their own.
 */
import { parentPort, Worker } from 'node:worker_threads';
import * as z from 'zod/mini';
import { handlerModules, type FunctionName } from './handlers.ts';
import { loadFunction, type FunctionOptions, type LambdaFunction } from './lambda.ts';

const functionToLoad = z.object({
  name: z.custom<FunctionName>((name) => typeof name === 'string' && name in handlerModules),
  region: z.string(),
  timeoutMs: z.number(),
});

const task = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('load'), load: functionToLoad }),
  /** The event is JSON. */
  z.object({ kind: z.literal('invoke'), name: z.string(), event: z.string() }),
  z.object({ kind: z.literal('nothing') }),
]);
type Task = z.infer<typeof task>;

const call = z.object({ id: z.number(), task });
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
  /** Resolves when the thread has done what it had to do before: it is busy as long as this takes. */
  readonly turn: () => Promise<void>;
  /** Ends it at once. */
  readonly end: () => Promise<void>;
}

interface Settling {
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * @param script the URL of what the thread runs; it has to call {@link answerCalls}
 * @param onFatal is told of an error that ended the thread
 */
export function startThread(script: string, onFatal: (error: Error) => void): Thread {
  const worker = new Worker(entryOf(script));
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

  function ask(task: Task): Promise<unknown> {
    count += 1;
    const id = count;
    return new Promise((resolve, reject) => {
      open.set(id, { resolve, reject });
      worker.postMessage({ id, task } satisfies Call);
    });
  }

  return {
    load: async (name, options) => {
      await ask({ kind: 'load', load: { name, ...options } });
      return { name, invoke: (event) => ask({ kind: 'invoke', name, event: JSON.stringify(event) }) };
    },
    turn: async () => {
      await ask({ kind: 'nothing' });
    },
    end: async () => {
      isEnding = true;
      await worker.terminate();
    },
  };
}

/** What a thread begins with. It does not take over the loader of TypeScript from the process. */
function entryOf(script: string): URL {
  if (!script.endsWith('.ts')) return new URL(script);
  const loader = JSON.stringify(import.meta.resolve('tsx/esm/api'));
  const source = `import { register } from ${loader}; register(); await import(${JSON.stringify(script)});`;
  return new URL(`data:text/javascript,${encodeURIComponent(source)}`);
}

/** Answers the calls of the thread that started this one. */
export function answerCalls(): void {
  const port = parentPort;
  if (port === null) throw new Error('This is no thread of another.');
  const loaded = new Map<string, LambdaFunction>();
  const run = async (asked: Task): Promise<string | undefined> => {
    switch (asked.kind) {
      case 'nothing':
        return undefined;
      case 'load': {
        const { name, ...options } = asked.load;
        loaded.set(name, await loadFunction(name, options));
        return undefined;
      }
      case 'invoke': {
        const called = loaded.get(asked.name);
        if (called === undefined) throw new Error(`The function ${asked.name} is not loaded.`);
        return JSON.stringify(await called.invoke(JSON.parse(asked.event)));
      }
    }
  };
  port.on('message', (message: unknown) => {
    const asked = call.parse(message);
    run(asked.task)
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
