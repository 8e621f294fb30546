/** The stand-in for a Lambda function URL: every request goes to one function, without a check. */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { answerJson, drain, endWithServer, listen, noGuard, type Guard } from '../http.ts';
import { isManyClients, onLoopback, originsBehind, type Network, type OriginOf } from '../network/network.ts';
import { largestEvent, TimedOut, type LambdaFunction } from '../lambda/lambda.ts';
import { answerTooBusy } from '../gateway/gateway.ts';
import { boundConnections, timeBounds } from '../gateway/connections.ts';
import { Intake, refuseUntaken, type AccountOf } from '../gateway/intake.ts';
import { mostReadBytes, refuseUnreadable } from '../gateway/unreadable.ts';
import { renewCertificate } from '../network/tls.ts';
import { applyUrlResult, toUrlEvent } from './urlEvent.ts';

export interface FunctionUrl {
  readonly port: number;
  readonly url: string;
  /** Takes no new requests. Resolves when the accepted ones are answered, or `signal` aborts. */
  stop(signal: AbortSignal): Promise<void>;
}

export interface FunctionUrlOptions {
  readonly port: number;
  readonly called: () => LambdaFunction | undefined;
  /** Resolves when the function is loaded. Earlier requests wait for it. */
  readonly ready: Promise<void>;
  readonly report: (error: unknown) => void;
  /** Finds the account that large bodies count for. Default: one account for all. */
  readonly accountOf?: AccountOf | undefined;
  readonly guard?: Guard | undefined;
  /** Default: only the loopback address. */
  readonly network?: Network | undefined;
}

export async function startFunctionUrl(options: FunctionUrlOptions): Promise<FunctionUrl> {
  const { guard = noGuard, network = onLoopback } = options;
  const originOf = originsBehind(network);
  const intake = new Intake({ largest: largestEvent }, options.accountOf);
  const { server, ...listening } = await listen(
    guard((request, response) => {
      const requestId = randomUUID();
      response.setHeader('x-amzn-RequestId', requestId);
      endWithServer(server, response);
      answer(request, response, { ...options, originOf, intake, requestId }).catch((error: unknown) => {
        if (request.errored !== null) return;
        options.report(error);
        if (response.headersSent) response.destroy();
        else if (error instanceof TimedOut) answerTooBusy(response);
        else answerBadGateway(response);
      });
    }),
    options.port,
    // Lambda's limit is not documented. This one is above the service's, so that the service answers.
    { ...timeBounds, maxHeaderSize: mostReadBytes },
    '--publish-port',
    network,
  );
  renewCertificate(server, network, options.report);
  server.on('clientError', refuseUnreadable);
  boundConnections(server, isManyClients(network));
  return { ...listening, stop: (signal) => drain(server, signal) };
}

interface Door extends FunctionUrlOptions {
  readonly originOf: OriginOf;
  readonly intake: Intake;
  readonly requestId: string;
}

async function answer(request: IncomingMessage, response: ServerResponse, door: Door): Promise<void> {
  const { called, ready, originOf, intake, requestId } = door;
  const receivedAt = Date.now();
  await ready;
  await intake.take(request, async (taken) => {
    if (taken === 'tooSlow' || taken === 'busy') {
      refuseUntaken(response, taken);
      return;
    }
    const body = taken === 'unknownSender' ? Buffer.alloc(0) : taken;
    const event =
      body !== 'tooLarge' && toUrlEvent({ request, origin: originOf(request), body, requestId, receivedAt });
    if (event === false || Buffer.byteLength(JSON.stringify(event)) > largestEvent) {
      const Message = `Request must be smaller than ${largestEvent} bytes for the InvokeFunction operation`;
      answerJson(response, 413, 'application/json', { Message });
      return;
    }
    const publish = called();
    if (publish === undefined) throw new Error('The function behind the URL is not there.');
    applyUrlResult(response, await publish.invoke(event));
  });
}

/** Answers as Lambda does if a function fails. Functions cannot change this answer. */
function answerBadGateway(response: ServerResponse): void {
  response.writeHead(502, { 'Content-Type': 'text/plain' }).end('Internal Server Error');
}
