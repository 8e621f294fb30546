/**
 * Runs a function in a separate process, as on AWS. A job that may have killed the stage is done there. If it
 * kills that process, it is surely to blame, and nothing else is lost. If the stage dies, all jobs in flight
 * end, so that does not count against a job.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import * as z from 'zod/mini';
import { mostDeaths } from '../../lambdas/aws/resources.ts';
import type { FunctionName } from './handlers.ts';
import type { FunctionOptions, LambdaFunction } from './lambda.ts';

/** @param inStage the same function in this process, for all other jobs */
export const withOwnProcess = (
  name: FunctionName,
  options: FunctionOptions,
  inStage: LambdaFunction,
): LambdaFunction => ({
  name,
  invoke: (event) => (isSuspect(event) ? inOwnProcess(name, options, event) : inStage.invoke(event)),
});

const records = z.object({
  Records: z.array(z.object({ attributes: z.object({ ApproximateReceiveCount: z.string() }) })),
});

const isSuspect = (event: unknown): boolean =>
  records
    .parse(event)
    .Records.some(({ attributes }) => Number(attributes.ApproximateReceiveCount) > mostDeaths);

/**
 * The process ends with this one. It has the same environment variables, with the addresses of the stand-ins.
 */
async function inOwnProcess(name: FunctionName, options: FunctionOptions, event: unknown): Promise<unknown> {
  const child = fork(process.argv[1] ?? '', ['function', name, JSON.stringify(options)]);
  try {
    const ended = once(child, 'exit').then(([code, signal]) => {
      throw new Error(`The process of the function ${name} ended: ${String(signal ?? code)}.`);
    });
    child.send({ event });
    const answer: unknown = (await Promise.race([once(child, 'message'), ended]))[0];
    const { error, result } = told.parse(answer);
    if (error !== undefined) throw new Error(error);
    return result;
  } finally {
    child.kill('SIGKILL');
  }
}

const told = z.object({ error: z.optional(z.string()), result: z.unknown() });
