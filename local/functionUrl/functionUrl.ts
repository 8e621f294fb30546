/** The stand-in for a Lambda function URL. All requests go to one function, without a check. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { answerJson } from '../http.ts';
import { startFront, type Door, type Front, type FrontOptions } from '../gateway/front.ts';
import { refuseUntaken } from '../gateway/intake.ts';
import { largestEvent, type LambdaFunction } from '../lambda/lambda.ts';
import { applyUrlResult, toUrlEvent } from './urlEvent.ts';

interface FunctionUrlOptions extends FrontOptions {
  readonly called: () => LambdaFunction | undefined;
}

export const startFunctionUrl = (options: FunctionUrlOptions): Promise<Front> =>
  startFront(options, {
    flag: '--publish-port',
    largest: largestEvent,
    answer: (request, response, door) => answer(request, response, { ...options, ...door }),
    fail: answerBadGateway,
  });

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  { called, ready, originOf, intake, requestId }: FunctionUrlOptions & Door,
): Promise<void> {
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

/** Answers as Lambda does if a function fails. */
function answerBadGateway(response: ServerResponse): void {
  response.writeHead(502, { 'Content-Type': 'text/plain' }).end('Internal Server Error');
}
