/** Endpoints of the published workflow client, and their deliveries. */
import { Receiver as Verifier, type Client as QstashClient } from '@upstash/qstash';
import { serve, type WorkflowContext } from '@upstash/workflow';
import { signatureHeaders } from '../../lambdas/delivery/rules/signature.ts';
import { joinedHeaders, type Header } from '../../lambdas/shared/headers.ts';

const keys = { current: `sig_${'a'.repeat(32)}`, next: `sig_${'b'.repeat(32)}` };

export interface Made {
  readonly kind: 'list' | 'call' | 'callResult' | 'failureRequest';
  readonly runId: string;
  readonly url: string;
  readonly headers: readonly Header[];
  readonly body: Buffer;
  readonly status: number;
  readonly answer: string;
  readonly answerHeaders: readonly Header[];
}

type ServeOptions = Pick<NonNullable<Parameters<typeof serve>[1]>, 'failureFunction'>;
export type Route = (context: WorkflowContext) => Promise<unknown>;

export class WorkflowEndpoints {
  /** All requests of runs, in order. */
  readonly made: Made[] = [];
  readonly #handlers = new Map<string, (request: Request) => Promise<Response>>();
  readonly #client: QstashClient;

  constructor(client: QstashClient) {
    this.#client = client;
  }

  /** Creates an endpoint of the published client, which verifies each delivery. */
  serve(path: string, route: Route, options: ServeOptions = {}): string {
    const url = `https://endpoint.example/${path}`;
    const verifier = new Verifier({ currentSigningKey: keys.current, nextSigningKey: keys.next });
    const { handler } = serve(route, {
      ...options,
      qstashClient: this.#client,
      receiver: verifier,
      env: {},
      disableTelemetry: true,
    });
    this.#handlers.set(url, handler);
    return url;
  }

  /** Makes a delivery of one kind; tests also use it to deliver out of order or twice. */
  async deliver(
    kind: Made['kind'],
    run: { readonly runId: string; readonly prefix: string },
    url: string,
    headers: readonly Header[],
    body: Buffer,
    messageId: string,
  ): Promise<Made> {
    const handler = this.#handlers.get(url);
    if (handler === undefined) throw new Error(`There is no endpoint ${url}.`);
    const signed = { messageId, url, body, dialects: [run.prefix], signedAt: Date.now() };
    const all: readonly Header[] = [
      ...headers,
      ...signatureHeaders(keys, signed),
      ['upstash-message-id', messageId],
      ['upstash-retried', '0'],
      ['upstash-region', 'eu-central-1'],
    ];
    const request = new Request(url, { method: 'POST', headers: joinedHeaders(all), body });
    const response = await handler(request);
    const made: Made = {
      kind,
      runId: run.runId,
      url,
      headers,
      body,
      status: response.status,
      answer: await response.text(),
      answerHeaders: [...response.headers],
    };
    this.made.push(made);
    return made;
  }

  /** The last request of a kind. */
  last(kind: Made['kind']): Made | undefined {
    return this.made.findLast((made) => made.kind === kind);
  }

  /** The client's report for each request, in order. */
  finishes(): readonly string[] {
    return this.made
      .filter(({ kind }) => kind !== 'call')
      .map(({ kind, status, answer }) => {
        const condition = /"finishCondition":"([^"]+)"/.exec(answer)?.[1] ?? 'none';
        return `${kind} ${status} ${condition}`;
      });
  }
}
