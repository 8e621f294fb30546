/** The stand-in for Lambda: loads handlers, and invokes them with Lambda's context and limits. */
import { randomUUID } from 'node:crypto';
import type { Context } from 'aws-lambda';
import * as z from 'zod/mini';
import { handlerModules, type FunctionName } from './handlers.ts';
import { functionArn } from '../aws/arns.ts';

/** 6 MiB of JSON: Lambda's limit for the payload of a synchronous request. */
export const largestEvent = 6_291_456;

/** 6 MiB and 100 bytes of JSON: Lambda's limit for the payload of a synchronous response. */
const largestPayload = 6_291_556;

/** A function. Its callers validate events and results. */
export interface LambdaFunction {
  readonly name: string;
  readonly invoke: (event: unknown) => Promise<unknown>;
}

/** The context, without the three functions that only handlers with callbacks use. */
type HandlerContext = Omit<Context, 'done' | 'fail' | 'succeed'>;

type Handler = (event: unknown, context: HandlerContext) => Promise<unknown>;

const handlerModule = z.object({
  handler: z.custom<Handler>((value) => typeof value === 'function', 'a handler is a function'),
});

export interface FunctionOptions {
  readonly region: string;
  /**
   * The time limit of an invocation, in real time. Code that exceeds it continues, because all functions
   * share the process, but its result is ignored.
   */
  readonly timeoutMs: number;
}

/** Loads a handler, which reads its settings from environment variables. */
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
      // If a function returns nothing, the result is null.
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

/** A function took longer than allowed. The message is the same as Lambda's. */
export class TimedOut extends Error {
  constructor(timeoutMs: number) {
    super(`Task timed out after ${(timeoutMs / 1000).toFixed(2)} seconds`);
  }
}

/** @param late called when the time is over; its result is then returned */
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
  // Not `Date.now`, which the test clock may change while the function runs.
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
