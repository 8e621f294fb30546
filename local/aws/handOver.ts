/**
 * The hand-over of requests to stand-ins in the same process: the clients make them as for AWS, and no socket is between. A socket
 * costs more CPU than most stand-ins need for the answer.
 */
import { HttpResponse, type HttpRequest } from '@smithy/core/protocols';
import { NodeHttpHandler, type NodeHttpHandlerOptions } from '@smithy/node-http-handler';
import type { HttpHandlerOptions } from '@smithy/types';

/** Answers a request of a client. Refusals are answers, too. */
export type HandOver = (request: HttpRequest, options: HttpHandlerOptions) => Promise<HttpResponse>;

/** The stand-ins that requests are handed over to, by host and port: `127.0.0.1:4566`. */
export type HandOvers = ReadonlyMap<string, HandOver>;

/** Sends the requests of a client: by HTTP where nothing in this process takes them. */
export class HandOverHandler extends NodeHttpHandler {
  readonly #handOvers: HandOvers;

  constructor(handOvers: HandOvers, options: NodeHttpHandlerOptions) {
    super(options);
    this.#handOvers = handOvers;
  }

  override async handle(
    request: HttpRequest,
    options: HttpHandlerOptions = {},
  ): Promise<{ response: HttpResponse }> {
    const handOver = this.#handOvers.get(`${request.hostname}:${request.port}`);
    if (handOver === undefined) return super.handle(request, options);
    return { response: await handOver(request, options) };
  }
}

/** The operation that `X-Amz-Target` names, without the service: `SendMessage` of `AmazonSQS.SendMessage`. */
export const operationIn = (target: string): string => target.slice(target.lastIndexOf('.') + 1);

/** @throws Error for a body that is sent piece by piece: those of AWS JSON are texts */
export function textOf({ body }: HttpRequest): string {
  if (typeof body === 'string') return body;
  if (!(body instanceof Uint8Array)) throw new Error('The body of a request of AWS JSON is at hand.');
  return Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString();
}

/** Makes an answer as HTTP brings it. */
export const toResponse = (
  statusCode: number,
  headers: Record<string, string>,
  body: string | Uint8Array,
): HttpResponse =>
  new HttpResponse({ statusCode, headers, body: typeof body === 'string' ? Buffer.from(body) : body });
