/** A function URL of Lambda for the local stage: every request goes to one function, without a check before it. */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { answerJson, drain, endWithServer, listen, noGuard, readBody, type Guard } from '../http.ts';
import { onLoopback, originsBehind, type Network, type OriginOf } from '../network/network.ts';
import { largestEvent, type LambdaFunction } from '../lambda/lambda.ts';
import { mostReadBytes, refuseUnreadable } from '../gateway/unreadable.ts';
import { renewCertificate } from '../network/tls.ts';
import { applyUrlResult, toUrlEvent } from './urlEvent.ts';

export interface FunctionUrl {
  readonly port: number;
  readonly url: string;
  /** Takes no more requests; resolves when the accepted ones have been answered, or `signal` aborts. */
  stop(signal: AbortSignal): Promise<void>;
}

export interface FunctionUrlOptions {
  readonly port: number;
  /** Finds the function that is called. */
  readonly called: () => LambdaFunction | undefined;
  /** Resolves when the function is loaded; requests that come before wait for it. */
  readonly ready: Promise<void>;
  readonly report: (error: unknown) => void;
  /** Checks every request before it is answered. */
  readonly guard?: Guard | undefined;
  /** The loopback address only, when absent. */
  readonly network?: Network | undefined;
}

export async function startFunctionUrl(options: FunctionUrlOptions): Promise<FunctionUrl> {
  const { guard = noGuard, network = onLoopback } = options;
  const originOf = originsBehind(network);
  const { server, ...listening } = await listen(
    guard((request, response) => {
      const requestId = randomUUID();
      response.setHeader('x-amzn-RequestId', requestId);
      endWithServer(server, response);
      answer(request, response, { ...options, originOf, requestId }).catch((error: unknown) => {
        if (request.errored !== null) return;
        options.report(error);
        if (response.headersSent) response.destroy();
        else answerBadGateway(response);
      });
    }),
    options.port,
    // Lambda's own limit is not documented. It is larger than the service's, so that the service answers.
    { maxHeaderSize: mostReadBytes },
    '--publish-port',
    network,
  );
  renewCertificate(server, network, options.report);
  server.on('clientError', refuseUnreadable);
  return { ...listening, stop: (signal) => drain(server, signal) };
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  {
    called,
    ready,
    originOf,
    requestId,
  }: FunctionUrlOptions & { readonly originOf: OriginOf; readonly requestId: string },
): Promise<void> {
  const receivedAt = Date.now();
  const body = await readBody(request, largestEvent);
  const event = body && toUrlEvent({ request, origin: originOf(request), body, requestId, receivedAt });
  if (event === undefined || Buffer.byteLength(JSON.stringify(event)) > largestEvent) {
    const Message = `Request must be smaller than ${largestEvent} bytes for the InvokeFunction operation`;
    answerJson(response, 413, 'application/json', { Message });
    return;
  }
  await ready;
  const publish = called();
  if (publish === undefined) throw new Error('The function behind the URL is not there.');
  applyUrlResult(response, await publish.invoke(event));
}

/** Answers as Lambda does when a function fails or its time is over. No function can change this answer. */
function answerBadGateway(response: ServerResponse): void {
  response.writeHead(502, { 'Content-Type': 'text/plain' }).end('Internal Server Error');
}
