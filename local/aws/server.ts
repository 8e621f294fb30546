/** The HTTP servers of the stand-ins, those that speak AWS JSON among them. */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { answerJson, close, listen, readBody } from '../http.ts';
import { jsonOrUndefined } from '../json.ts';
import { AwsError } from './awsError.ts';
import type { Operation } from './operation.ts';

export interface AwsServer {
  readonly url: string;
  /** Ends at once, requests that wait for an answer included. */
  readonly close: () => Promise<void>;
}

export interface AwsServerOptions {
  /** Answers a request; throws an `AwsError` to refuse it. */
  readonly answer: (request: IncomingMessage, response: ServerResponse) => Promise<void>;
  readonly refuse: (response: ServerResponse, refusal: AwsError) => void;
  /** The service's code for a failure of its own. */
  readonly failureCode: string;
  /** Is told of every other error. */
  readonly report: (error: unknown) => void;
}

export async function startAwsServer(options: AwsServerOptions): Promise<AwsServer> {
  const { answer, refuse, failureCode, report } = options;
  const { server, url } = await listen((request, response) => {
    answer(request, response).catch((error: unknown) => {
      if (error instanceof AwsError) {
        refuse(response, error);
        return;
      }
      report(error);
      if (response.headersSent) response.destroy();
      else refuse(response, new AwsError(failureCode, 'The stand-in failed.', 500));
    });
  });
  return { url, close: () => close(server) };
}

export interface JsonServerOptions<Context> {
  /** Of the AWS JSON protocol. */
  readonly version: '1.0' | '1.1';
  readonly operations: ReadonlyMap<string, Operation<Context>>;
  /** Makes what an operation is called with; `signal` aborts when the client has hung up. */
  readonly contextOf: (signal: AbortSignal) => Context;
  /** The service's code for an operation that it does not have. */
  readonly unknownCode: string;
  readonly failureCode: string;
  readonly report: (error: unknown) => void;
}

/** Starts a stand-in that speaks AWS JSON: a header names the operation, the body is its input. */
export async function startJsonServer<Context>(options: JsonServerOptions<Context>): Promise<AwsServer> {
  const { version, operations, contextOf, unknownCode, failureCode, report } = options;
  const contentType = `application/x-amz-json-${version}`;
  const headers = (): Record<string, string> => ({ 'x-amzn-requestid': randomUUID() });

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const gone = new AbortController();
    response.once('close', () => {
      gone.abort();
    });
    const body = await readBody(request);
    const input = jsonOrUndefined(body?.toString('utf8') || '{}');
    const name = operationName(request);
    const operation = input === undefined ? undefined : operations.get(name);
    if (operation === undefined) {
      throw new AwsError(unknownCode, `The local stage has no operation ${name || 'of this form'}.`);
    }
    const output = await operation(contextOf(gone.signal), input);
    answerJson(response, 200, contentType, output, headers());
  }

  function refuse(response: ServerResponse, { code, message, status }: AwsError): void {
    answerJson(response, status, contentType, { __type: code, message }, headers());
  }

  return startAwsServer({ answer, refuse, failureCode, report });
}

/** The name in `X-Amz-Target`, without the service's: `SendMessage` of `AmazonSQS.SendMessage`. */
function operationName({ headers }: IncomingMessage): string {
  const target = headers['x-amz-target'];
  return typeof target === 'string' ? target.slice(target.lastIndexOf('.') + 1) : '';
}
