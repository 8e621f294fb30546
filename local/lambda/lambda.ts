/** The stand-in for Lambda: loads handlers, and invokes them with Lambda's context and limits. */
import { randomUUID } from 'node:crypto';
import type { Context } from 'aws-lambda';
import * as z from 'zod/mini';
import { handlerModules, type FunctionName } from './handlers.ts';
import { functionArn } from '../aws/arns.ts';

/** 6 MiB of JSON: Lambda's "Invocation payload" of a synchronous request. */
export const largestEvent = 6_291_456;

/** 6 MiB and 100 bytes of JSON: Lambda's "Invocation payload" of a synchronous response. */
const largestPayload = 6_291_556;

/** A function. Its callers check the event and the result. */
export interface LambdaFunction {
  readonly name: string;
  readonly invoke: (event: unknown) => Promise<unknown>;
}

/** The context without its three functions for callback handlers. */
type HandlerContext = Omit<Context, 'done' | 'fail' | 'succeed'>;

type Handler = (event: unknown, context: HandlerContext) => Promise<unknown>;

const handlerModule = z.object({
  handler: z.custom<Handler>((value) => typeof value === 'function', 'a handler is a function'),
});

export interface FunctionOptions {
  readonly region: string;
  /**
   * The limit of an invocation, in real time. All functions share the process, so the code continues, but its result is
   * ignored.
   */
  readonly timeoutMs: number;
}

/** Loads a handler, which reads its settings from the environment. */
export async function loadFunction(name: FunctionName, options: FunctionOptions): Promise<LambdaFunction> {
  const { handler } = handlerModule.parse(await handlerModules[name]());
  return toFunction(name, handler, options);
}

export function toFunction(name: string, handler: Handler, options: FunctionOptions): LambdaFunction {
  return {
    name,
    invoke: async (event) => {
      const { timeoutMs } = options;
      const returned = await inTime(handler(event, contextOf(name, options)), timeoutMs, () => {
        throw new TimedOut(timeoutMs);
      });
      // A function that returns nothing answers null.
      const bytes = Buffer.byteLength(JSON.stringify(returned ?? null));
      if (bytes > largestPayload) {
        throw new Error(
          `Response payload size exceeded maximum allowed payload size (${largestPayload} bytes): it has ${bytes}.`,
        );
      }
      return returned;
    },
  };
}

/** A function took longer than Lambda allows. The message is Lambda's. */
export class TimedOut extends Error {
  constructor(timeoutMs: number) {
    super(`Task timed out after ${(timeoutMs / 1000).toFixed(2)} seconds`);
  }
}

/** @param late called after the time; its result is then returned */
export async function inTime<T>(work: Promise<T>, timeoutMs: number, late: () => T): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const time = new Promise<void>((resolve) => {
    // The timer must not keep a stopped stage's process alive.
    timer = setTimeout(resolve, timeoutMs).unref();
  });
  try {
    return await Promise.race([work, time.then(late)]);
  } finally {
    clearTimeout(timer);
  }
}

function contextOf(functionName: string, { region, timeoutMs }: FunctionOptions): HandlerContext {
  // The test clock may change `Date.now` while the function runs.
  const endsAt = performance.now() + timeoutMs;
  return {
    awsRequestId: randomUUID(),
    callbackWaitsForEmptyEventLoop: false,
    functionName,
    functionVersion: '$LATEST',
    invokedFunctionArn: functionArn(region, functionName),
    logGroupName: `/aws/lambda/${functionName}`,
    logStreamName: 'local',
    memoryLimitInMB: '1024',
    getRemainingTimeInMillis: () => Math.max(0, Math.floor(endsAt - performance.now())),
  };
}
