/** HTTP servers and operations of the stand-ins. */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import * as z from 'zod/mini';
import { answerJson, close, listen, readBody } from '../http.ts';
import { jsonOrUndefined } from '../json.ts';
import { AwsError } from './awsError.ts';
import type { HandOver } from './handOver.ts';

export interface AwsServer {
  readonly url: string;
  readonly close: () => Promise<void>;
}

interface AwsServerOptions {
  readonly answer: (request: IncomingMessage, response: ServerResponse) => Promise<void>;
  readonly refuse: (response: ServerResponse, refusal: AwsError) => void;
  readonly failureCode: string;
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
      else refuse(response, failure(failureCode));
    });
  });
  return { url, close: () => close(server) };
}

/** An operation of a stand-in. Its input is unchecked; it returns the answer as JSON. */
export type Operation<Context> = (context: Context, input: unknown) => unknown;

/**
 * Makes operations that first check their input.
 *
 * @param code the error code for an invalid input
 * @param wordsOf describes the problem
 */
export function checkedOperations<Context>(
  code: string,
  wordsOf: (input: unknown, error: z.core.$ZodError) => string = (_input, error) => z.prettifyError(error),
) {
  return <Schema extends z.ZodMiniType>(
    schema: Schema,
    run: (context: Context, input: z.infer<Schema>) => unknown,
  ): Operation<Context> =>
    (context, input) => {
      const parsed = schema.safeParse(input);
      if (!parsed.success) throw new AwsError(code, wordsOf(input, parsed.error));
      return run(context, parsed.data);
    };
}

interface JsonServiceOptions<Context> {
  readonly version: '1.0' | '1.1';
  readonly operations: ReadonlyMap<string, Operation<Context>>;
  /** Makes the context of an operation. `signal` aborts if the client closes the connection. */
  readonly contextOf: (signal: AbortSignal) => Context;
  readonly unknownCode: string;
  readonly failureCode: string;
  readonly report: (error: unknown) => void;
}

/** A stand-in that speaks AWS JSON: a header names the operation, and the body is its input. */
interface JsonService extends AwsServer {
  readonly handOver: HandOver;
}

export async function startJsonServer<Context>(options: JsonServiceOptions<Context>): Promise<JsonService> {
  const { version, operations, contextOf, unknownCode, failureCode, report } = options;
  const contentType = `application/x-amz-json-${version}`;
  const requestId = (): Record<string, string> => ({ 'x-amzn-requestid': randomUUID() });

  function outputOf(name: string, input: unknown, signal: AbortSignal): unknown {
    const operation = input === undefined ? undefined : operations.get(name);
    if (operation === undefined) {
      throw new AwsError(unknownCode, `The local stage has no operation ${name || 'of this form'}.`);
    }
    return operation(contextOf(signal), input);
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const gone = new AbortController();
    response.once('close', () => {
      gone.abort();
    });
    const body = await readBody(request);
    const name = nameIn(request);
    const input = jsonOrUndefined(body.toString('utf8') || '{}');
    const output = await outputOf(name, input, gone.signal);
    answerJson(response, 200, contentType, output, requestId());
  }

  function refuse(response: ServerResponse, refusal: AwsError): void {
    answerJson(response, refusal.status, contentType, errorBody(refusal), requestId());
  }

  const { signal: never } = new AbortController();
  const handOver = handedOverBy((name, input) => outputOf(name, input, never), options);

  return { ...(await startAwsServer({ answer, refuse, failureCode, report })), handOver };
}

export const handedOverBy =
  (
    outputOf: (operation: string, input: object) => unknown,
    { failureCode, report }: Pick<AwsServerOptions, 'failureCode' | 'report'>,
  ): HandOver =>
  async (operation, input) => {
    try {
      return anObject.parse(await outputOf(operation, input));
    } catch (error) {
      if (error instanceof AwsError) throw error;
      report(error);
      throw failure(failureCode);
    }
  };

const anObject = z.custom<object>((value) => typeof value === 'object' && value !== null);

const failure = (code: string): AwsError => new AwsError(code, 'The stand-in failed.', 500);

const errorBody = ({ code, message, members }: AwsError) => ({ ...members, __type: code, message });

/** Extracts the operation from `X-Amz-Target`: `SendMessage` from `AmazonSQS.SendMessage`. */
export const operationIn = (target: string): string => target.slice(target.lastIndexOf('.') + 1);

function nameIn({ headers }: IncomingMessage): string {
  const target = headers['x-amz-target'];
  return typeof target === 'string' ? operationIn(target) : '';
}
