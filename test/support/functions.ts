/** Lambda functions on this machine: a server with Invoke, like SAM's `start-lambda` and the runtime interface emulator. */
import { close, listen, readBody } from '../../local/http.ts';

type FunctionHandler = (event: unknown) => unknown;

/** Refuses an invocation as Lambda does. */
export class Refusal extends Error {
  readonly status: number;
  readonly code: string;
  readonly members: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    status: number,
    code: string,
    members: Readonly<Record<string, string>> = {},
    headers: Readonly<Record<string, string>> = {},
  ) {
    super(code);
    this.status = status;
    this.code = code;
    this.members = members;
    this.headers = headers;
  }
}

/** A function's result that is not JSON, as from a custom or streaming runtime. */
export class Returned {
  readonly bytes: Uint8Array;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }
}

/** Matches the path of an invocation. */
const path = /^\/2015-03-31\/functions\/([^/]+)\/invocations(?:\?Qualifier=([^&]+))?$/;

/**
 * Starts the server.
 *
 * @param functions by `name`, or by `name:alias`
 */
export async function startFunctions(functions: ReadonlyMap<string, FunctionHandler>) {
  const { server, url } = await listen((request, response) => {
    void (async () => {
      const [, encoded = '', qualifier] = path.exec(request.url ?? '') ?? [];
      const name = [decodeURIComponent(encoded), ...(qualifier === undefined ? [] : [qualifier])].join(':');
      const payload = await readBody(request);
      try {
        const handler = functions.get(name);
        if (handler === undefined) {
          throw new Refusal(404, 'ResourceNotFoundException', { Message: `Function not found: ${name}` });
        }
        const returned = await handler(JSON.parse(payload.toString('utf8')));
        const bytes = returned instanceof Returned ? returned.bytes : (JSON.stringify(returned) ?? 'null');
        response.writeHead(200, { 'X-Amz-Executed-Version': '$LATEST' }).end(bytes);
      } catch (error) {
        if (error instanceof Refusal) {
          const { status, code, members, headers } = error;
          response
            .writeHead(status, { ...headers, 'X-Amzn-Errortype': code })
            .end(JSON.stringify({ Type: 'User', ...members }));
          return;
        }
        const { name: errorType, message: errorMessage } = error instanceof Error ? error : new Error('?');
        response
          .writeHead(200, { 'X-Amz-Function-Error': 'Unhandled' })
          .end(JSON.stringify({ errorType, errorMessage, trace: [] }));
      }
    })();
  });
  return { url, close: () => close(server) };
}

/**
 * A function that the test controls: it sends its event to the URL in the header `x-report-to`, and returns the JSON answer. It
 * throws the answer if the status is not 200.
 */
export const reporterCode = `
export const handler = async (event) => {
  const answer = await fetch(event.headers['x-report-to'], { method: 'POST', body: JSON.stringify(event) });
  const text = await answer.text();
  if (answer.status !== 200) throw new TypeError(text);
  return text === '' ? undefined : JSON.parse(text);
};
`;

export const reporterName = 'receiver-reporter';

const isHandler = (value: unknown): value is FunctionHandler => typeof value === 'function';

export async function startReporter(): Promise<Awaited<ReturnType<typeof startFunctions>>> {
  const loaded: unknown = await import(`data:text/javascript,${encodeURIComponent(reporterCode)}`);
  const handler = typeof loaded === 'object' && loaded !== null && 'handler' in loaded && loaded.handler;
  if (!isHandler(handler)) throw new Error('The reporter exports no handler.');
  return startFunctions(new Map([[reporterName, handler]]));
}
