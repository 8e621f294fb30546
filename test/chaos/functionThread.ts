/**
 * A function in a separate thread, which can be killed at any moment. It has separate modules and a separate clock, and reaches
 * the stand-ins only by HTTP, through the fault proxies.
 */
import { Agent } from 'node:http';
import { parentPort, workerData } from 'node:worker_threads';
import { type HttpHandler, HttpRequest } from '@smithy/core/protocols';
import * as z from 'zod/mini';
import { addToClients } from '../../lambdas/aws/additions.ts';
import { callerHeader } from './faultProxy.ts';
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

/** The part of a client that sends requests. */
type Sender = Pick<HttpHandler, 'httpHandlerConfigs'>;
const sender = z.custom<Sender>((value) => value instanceof Object && 'httpHandlerConfigs' in value);
const senders: Sender[] = [];

// Each call names its process.
addToClients((_service, { middlewareStack, config }) => {
  senders.push(sender.parse(config.requestHandler));
  middlewareStack.add(
    (next) => (args) => {
      if (HttpRequest.isInstance(args.request)) args.request.headers[callerHeader] = given.id;
      return next(args);
    },
    { name: 'caller', step: 'build' },
  );
});

/** The agents of clients that have made a call. */
const agents = (): readonly Agent[] =>
  senders.flatMap((one) => sending.parse(one.httpHandlerConfigs()).httpAgent ?? []);
const sending = z.object({ httpAgent: z.optional(z.instanceof(Agent)) });

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
    const { heapUsed, heapTotal } = process.memoryUsage();
    const sockets = agents().flatMap(({ sockets: busy, freeSockets }) => [
      ...Object.values(busy),
      ...Object.values(freeSockets),
    ]);
    const measure = {
      heapMb: heapUsed / 2 ** 20,
      heapTotalMb: heapTotal / 2 ** 20,
      connections: sockets.flat().length,
    };
    tell({ kind: 'measured', measure });
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
