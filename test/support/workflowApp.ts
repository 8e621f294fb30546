/**
 * An application with workflows: endpoints of the published client on a Node server, which verify each request's signature; and
 * the client that starts and reads runs.
 */
import { Client as QstashClient, Receiver as Verifier } from '@upstash/qstash';
import { Client, serve, type WorkflowContext, type WorkflowRunLog } from '@upstash/workflow';
import type { IncomingMessage } from 'node:http';
import { buffer } from 'node:stream/consumers';
import * as z from 'zod/mini';
import { close, listen } from '../../local/http.ts';
import { makeAccount, type AccountRecord } from './accounts.ts';
import { eventually } from './eventually.ts';
import { service } from './service.ts';

export type Route<T = unknown> = (context: WorkflowContext<T>) => Promise<unknown>;
type ServeOptions<T> = Pick<NonNullable<Parameters<typeof serve<T>>[1]>, 'failureFunction' | 'receiver'>;

export interface Got {
  readonly path: string;
  readonly headers: Headers;
  readonly body: string;
  readonly status: number;
  readonly answer: string;
}

async function requestOf(incoming: IncomingMessage, origin: string): Promise<Request> {
  const body = await buffer(incoming);
  const headers = new Headers();
  for (const [name, value] of Object.entries(incoming.headersDistinct)) {
    for (const one of value ?? []) headers.append(name, one);
  }
  const method = incoming.method ?? 'GET';
  return new Request(new URL(incoming.url ?? '/', origin), {
    method,
    headers,
    ...(method === 'GET' || method === 'HEAD' ? {} : { body: new Uint8Array(body) }),
  });
}

export async function startWorkflowApp(account?: AccountRecord) {
  const owner = account ?? (await makeAccount());
  const { token } = owner;
  const qstash = new QstashClient({ baseUrl: service.url, token, enableTelemetry: false });
  const client = new Client({ baseUrl: service.url, token, enableTelemetry: false });
  const keys = await fetch(`${service.url}/v2/keys`, { headers: { authorization: `Bearer ${token}` } });
  const { current, next } = z.object({ current: z.string(), next: z.string() }).parse(await keys.json());
  const handlers = new Map<string, (request: Request) => Promise<Response>>();
  const got: Got[] = [];
  let names = 0;

  const { server, url: origin } = await listen((incoming, outgoing) => {
    void (async () => {
      const request = await requestOf(incoming, origin);
      const { pathname } = new URL(request.url);
      const handler = handlers.get(pathname);
      const body = await request.clone().text();
      const response = handler === undefined ? new Response('none', { status: 404 }) : await handler(request);
      const answer = Buffer.from(await response.arrayBuffer());
      got.push({
        path: pathname,
        headers: request.headers,
        body,
        status: response.status,
        answer: answer.toString(),
      });
      outgoing.writeHead(response.status, Object.fromEntries(response.headers)).end(answer);
    })().catch((error: unknown) => {
      outgoing.writeHead(500).end(String(error));
    });
  });

  return {
    account: owner,
    token,
    client,
    qstash,
    origin,
    got,
    serve: <T>(route: Route<T>, options: ServeOptions<T> = {}): string => {
      names += 1;
      // The last segment is the workflow's id, with which other workflows invoke it.
      const path = `/flows/flow${names}`;
      const { handler } = serve<T>(route, {
        qstashClient: qstash,
        receiver: new Verifier({ currentSigningKey: current, nextSigningKey: next }),
        ...options,
        env: {},
        disableTelemetry: true,
      });
      handlers.set(path, handler);
      return `${origin}${path}`;
    },
    /** Answers plain requests at a path, such as a step's to a third party. */
    answer: (handler: (request: Request) => Promise<Response> | Response): string => {
      names += 1;
      handlers.set(`/plain${names}`, async (request) => handler(request));
      return `${origin}/plain${names}`;
    },
    gotAt: (url: string): readonly Got[] => got.filter(({ path }) => url === `${origin}${path}`),
    /** Waits until a run in the log meets a condition. */
    logged: async (
      workflowRunId: string,
      holds: (run: WorkflowRunLog) => boolean = (run) => run.workflowState !== 'RUN_STARTED',
    ): Promise<WorkflowRunLog> => {
      const run = await eventually(
        async () => (await client.logs({ filter: { workflowRunId } })).runs[0],
        (one) => one !== undefined && holds(one),
      );
      if (run === undefined) throw new Error('The run is not in the log.');
      return run;
    },
    close: (): Promise<void> => close(server),
  };
}

export type WorkflowApp = Awaited<ReturnType<typeof startWorkflowApp>>;
