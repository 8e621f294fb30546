/** Serves a Lambda handler as a function URL: `lambda.ts <module> <port>`. */
import type { LambdaFunctionURLEvent } from 'aws-lambda';
import { randomUUID } from 'node:crypto';
import { applyUrlResult, toUrlEvent } from '../../local/functionUrl/urlEvent.ts';
import { listen, readBody } from '../../local/http.ts';
import { onLoopback, originsBehind } from '../../local/network/network.ts';

type Handler = (event: LambdaFunctionURLEvent) => Promise<unknown>;
const isHandler = (value: unknown): value is Handler => typeof value === 'function';

const [, , module = '', port = ''] = process.argv;
const loaded: unknown = await import(module);
const handler = typeof loaded === 'object' && loaded !== null && 'handler' in loaded && loaded.handler;
if (!isHandler(handler)) throw new Error(`${module} exports no handler.`);

const originOf = originsBehind(onLoopback);
await listen((request, response) => {
  void (async () => {
    const body = await readBody(request);
    const event = toUrlEvent({
      ...{ request, body },
      origin: originOf(request),
      requestId: randomUUID(),
      receivedAt: Date.now(),
    });
    applyUrlResult(response, await handler(event));
  })();
}, Number(port));
