/**
 * Sends the requests of AWS clients whose bodies and answers are short texts: those of tables, queues and schedules. The SDK's own
 * sender takes answers as streams and starts five timers for each request; most of its CPU is for that.
 */
import { Agent, type ClientRequest, request as requestHttp } from 'node:http';
import { Agent as TlsAgent, request as requestTls } from 'node:https';
import { buildQueryString, type HttpHandler, type HttpRequest, HttpResponse } from '@smithy/core/protocols';
import type { HttpHandlerOptions } from '@smithy/types';

export interface SenderOptions {
  /** Milliseconds to get a connection, be it an open one that is free or a new one. */
  readonly connectionTimeout: number;
  /** Milliseconds without a byte of the answer: before its first byte, and then between any two. */
  readonly socketTimeout: number;
  /** Requests at once to one host; others wait for a connection. */
  readonly maxSockets: number;
}

/** The codes by which the SDK's sender tells, too, that a request came to no answer: it may be sent again. */
const withoutAnswer: ReadonlySet<unknown> = new Set(['ECONNRESET', 'EPIPE', 'ETIMEDOUT']);

const timeout = (message: string): Error =>
  Object.assign(new Error(message), { name: 'TimeoutError', code: 'ETIMEDOUT' });

const named = (error: Error & { readonly code?: unknown }): Error =>
  withoutAnswer.has(error.code) ? Object.assign(error, { name: 'TimeoutError' }) : error;

/** A sender of its own for each client. Connections are kept open for as long as the service keeps them. */
export class Sender implements HttpHandler {
  readonly metadata = { handlerProtocol: 'http/1.1' };
  readonly #options: SenderOptions;
  readonly #agent: Agent;
  readonly #tlsAgent: TlsAgent;

  constructor(options: SenderOptions) {
    const { maxSockets } = options;
    this.#options = options;
    this.#agent = new Agent({ keepAlive: true, maxSockets });
    this.#tlsAgent = new TlsAgent({ keepAlive: true, maxSockets });
  }

  /** @throws Error `TimeoutError` where no answer comes, `AbortError` where the caller gives up */
  handle(
    request: HttpRequest,
    { abortSignal }: HttpHandlerOptions = {},
  ): Promise<{ response: HttpResponse }> {
    const { connectionTimeout, socketTimeout } = this.#options;
    return new Promise((resolve, reject) => {
      const sent = this.#open(request, abortSignal);
      const stopWaiting = (): void => {
        clearTimeout(connecting);
      };
      const fail = (error: Error): void => {
        stopWaiting();
        reject(named(error));
      };
      const giveUp = (message: string): void => {
        const error = timeout(message);
        fail(error);
        sent.destroy(error);
      };
      const connecting = setTimeout(() => {
        giveUp(`There was no connection to ${request.hostname} in ${connectionTimeout} ms.`);
      }, connectionTimeout);
      sent.once('socket', (socket) => {
        if (socket.connecting) socket.once('connect', stopWaiting);
        else stopWaiting();
      });
      sent.once('timeout', () => {
        giveUp(`${request.hostname} was silent for ${socketTimeout} ms.`);
      });
      sent.on('error', fail);
      sent.once('response', (answer) => {
        const chunks: Buffer[] = [];
        answer.on('data', (chunk: Buffer) => chunks.push(chunk));
        answer.once('error', fail);
        answer.once('end', () => {
          const { statusCode = 0, statusMessage } = answer;
          const headers = headersIn(answer.rawHeaders);
          const [body] = chunks.length === 1 ? chunks : [Buffer.concat(chunks)];
          resolve({ response: new HttpResponse({ statusCode, reason: statusMessage, headers, body }) });
        });
      });
      sent.end(request.body);
    });
  }

  #open(request: HttpRequest, abortSignal: HttpHandlerOptions['abortSignal']): ClientRequest {
    const { protocol, hostname, port, method, path } = request;
    const isTls = protocol === 'https:';
    const query = buildQueryString(request.query);
    return (isTls ? requestTls : requestHttp)({
      agent: isTls ? this.#tlsAgent : this.#agent,
      // An address of IPv6 is in brackets in a URL only.
      host: hostname.startsWith('[') ? hostname.slice(1, -1) : hostname,
      port,
      method,
      path: query === '' ? path : `${path}?${query}`,
      headers: request.headers,
      timeout: this.#options.socketTimeout,
      ...(abortSignal instanceof AbortSignal && { signal: abortSignal }),
    });
  }

  /** Nothing of it changes: the SDK asks for this where its own sender would get other timeouts. */
  updateHttpClientConfig(): void {}

  httpHandlerConfigs(): SenderOptions {
    return this.#options;
  }

  destroy(): void {
    this.#agent.destroy();
    this.#tlsAgent.destroy();
  }
}

/** The headers that the SDK reads: ids of the request, the time of the service for its clock, the kind of an error, pauses. */
const isRead = (name: string): boolean =>
  name.startsWith('x-amz') || name === 'date' || name === 'content-type' || name === 'retry-after';

/** @param raw names and values in turns */
function headersIn(raw: readonly string[]): Record<string, string> {
  const headers: Record<string, string> = {};
  for (let at = 0; at < raw.length; at += 2) {
    const name = raw[at]?.toLowerCase() ?? '';
    if (isRead(name)) headers[name] = raw[at + 1] ?? '';
  }
  return headers;
}
