/** Lambda for the local stage: loading a handler, and the context it is called with. */
import { randomUUID } from 'node:crypto';
import type { Context } from 'aws-lambda';
import * as z from 'zod/mini';
import { accountId } from './sqs.ts';

/** A function as Lambda sees it: what goes in and comes out is checked by whoever calls it. */
export interface LambdaFunction {
  readonly name: string;
  readonly invoke: (event: unknown) => Promise<unknown>;
}

/** The context without its three ways to answer that only callbacks need. */
type HandlerContext = Omit<Context, 'done' | 'fail' | 'succeed'>;

type Handler = (event: unknown, context: HandlerContext) => Promise<unknown>;

const handlerModule = z.object({
  handler: z.custom<Handler>((value) => typeof value === 'function', 'a handler is a function'),
});

export interface FunctionOptions {
  readonly region: string;
  /** How long it is given; the handler reads it from its context, nothing is cut off here. */
  readonly timeoutMs: number;
}

/** Loads `handlers/<name>.ts`, which reads its settings from the environment as it is now. */
export async function loadFunction(name: string, options: FunctionOptions): Promise<LambdaFunction> {
  const loaded: unknown = await import(new URL(`../lambdas/handlers/${name}.ts`, import.meta.url).href);
  const { handler } = handlerModule.parse(loaded);
  return toFunction(name, handler, options);
}

export function toFunction(name: string, handler: Handler, options: FunctionOptions): LambdaFunction {
  return { name, invoke: (event) => handler(event, contextOf(name, options)) };
}

function contextOf(functionName: string, { region, timeoutMs }: FunctionOptions): HandlerContext {
  // Not by the wall clock, which may be set while the function runs.
  const endsAt = performance.now() + timeoutMs;
  return {
    awsRequestId: randomUUID(),
    callbackWaitsForEmptyEventLoop: false,
    functionName,
    functionVersion: '$LATEST',
    invokedFunctionArn: `arn:aws:lambda:${region}:${accountId}:function:${functionName}`,
    logGroupName: `/aws/lambda/${functionName}`,
    logStreamName: 'local',
    memoryLimitInMB: '1024',
    getRemainingTimeInMillis: () => Math.max(0, Math.floor(endsAt - performance.now())),
  };
}
