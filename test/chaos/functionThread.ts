/**
 * A function in a thread of its own, which can be ended at any moment, in the middle of a line. It has its own modules and its own
 * clock, and reaches the stand-ins by HTTP only, through their doors.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { HttpRequest } from '@smithy/core/protocols';
import * as z from 'zod/mini';
import { addToClients } from '../../lambdas/aws/functionClient.ts';
import { callerHeader } from '../../local/aws/door.ts';
import { handlerModules, type FunctionName } from '../../local/lambda/handlers.ts';
import { loadFunction } from '../../local/lambda/lambda.ts';
import { toThread, type FromThread } from './threadMessages.ts';

const given = z
  .object({
    id: z.string(),
    name: z.custom<FunctionName>((name) => typeof name === 'string' && name in handlerModules),
    region: z.string(),
    timeoutMs: z.number(),
    skewMs: z.number(),
    aheadMs: z.instanceof(BigInt64Array),
  })
  .parse(workerData);

const realNow = Date.now;
Date.now = () => realNow() + Number(Atomics.load(given.aheadMs, 0)) + given.skewMs;
addToClients(() => ({
  applyToStack: (stack) => {
    stack.add(
      (next) => (args) => {
        // Says with each call whose it is.
        if (HttpRequest.isInstance(args.request)) args.request.headers[callerHeader] = given.id;
        return next(args);
      },
      { name: 'caller', step: 'build' },
    );
  },
}));

const port = parentPort;
if (port === null) throw new Error('It runs as a thread only.');
const { region, timeoutMs } = given;
const { invoke } = await loadFunction(given.name, { region, timeoutMs });
const tell = (message: FromThread): void => {
  port.postMessage(message);
};
port.on('message', (message: unknown) => {
  const told = toThread.parse(message);
  if (told.kind === 'measure') {
    globalThis.gc?.();
    tell({ kind: 'measured', heapMb: process.memoryUsage().heapUsed / 2 ** 20 });
    return;
  }
  const { number, event } = told;
  invoke(event).then(
    (result) => {
      tell({ kind: 'answered', number, result });
    },
    (error: unknown) => {
      tell({ kind: 'answered', number, error: error instanceof Error ? error.message : String(error) });
    },
  );
});
