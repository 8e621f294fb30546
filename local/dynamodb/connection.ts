/** The connection to dynoxide: AWS JSON over HTTP, without the signatures and retries of an AWS client. */
import { Pool } from 'undici';

/** An operation of DynamoDB, with its input as JSON. */
export interface Call {
  readonly operation: string;
  readonly body: string;
}

/** A call as a client makes it: the input is parsed, with bytes as bytes. */
export interface ClientCall extends Call {
  readonly input: object;
}

export const callOf = (operation: string, input: object): ClientCall => ({
  operation,
  input,
  body: toJson(input),
});

/** Writes an input, or a part of one, as AWS JSON: bytes are in base64. */
export const toJson = (input: object): string => JSON.stringify(input, bytesInBase64);

/** Called by `JSON.stringify`, which has already turned a `Buffer` into an object: its holder still has the value. */
function bytesInBase64(this: Readonly<Record<string, unknown>>, name: string, value: unknown): unknown {
  const original = this[name];
  return original instanceof Uint8Array ? Buffer.from(original).toString('base64') : value;
}

/** An answer, or a refusal. */
export interface Answer {
  readonly status: number;
  readonly body: Uint8Array;
  /** The same in the client's form, where the body need not be parsed for it. */
  readonly output?: object;
}

export type Send = (call: Call) => Promise<Answer>;
export type SendForClient = (call: ClientCall) => Promise<Answer>;

export interface Connection {
  readonly send: Send;
  readonly close: () => Promise<void>;
}

/** The number of connections that an AWS client has, too. With few, reads would wait for each other on a busy machine. */
const connections = 100;

/** The longest silence, ms. dynoxide is a process of this machine: it answers, or it has ended and its connections with it. */
const silenceMs = 60_000;

/** dynoxide demands a signature, and checks none. */
const authorization =
  'AWS4-HMAC-SHA256 Credential=local/20200101/local/dynamodb/aws4_request, SignedHeaders=host, Signature=none';

export function connect(url: string): Connection {
  const pool = new Pool(url, { connections, headersTimeout: silenceMs, bodyTimeout: silenceMs });
  return {
    send: async ({ operation, body }) => {
      const answer = await pool.request({
        method: 'POST',
        path: '/',
        headers: {
          authorization,
          'content-type': 'application/x-amz-json-1.0',
          'x-amz-date': '20200101T000000Z',
          'x-amz-target': `DynamoDB_20120810.${operation}`,
        },
        body,
      });
      return { status: answer.statusCode, body: await answer.body.bytes() };
    },
    close: () => pool.destroy(),
  };
}
