/** An application whose workflows run during the storm, with the published client. */
import type { IncomingMessage } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { Client as QstashClient, Receiver as Verifier } from '@upstash/qstash';
import { Client, serve } from '@upstash/workflow';
import { close, listen } from '../../local/http.ts';
import { Chance } from './chance.ts';
import type { StageHandle } from './stageHandle.ts';

export interface WorkflowApp {
  readonly client: Client;
  readonly url: string;
  /** The endpoint of the workflow with as many parallel steps as its payload says. */
  readonly largeUrl: string;
  /** Parallel steps that were made, including repetitions. */
  readonly branches: () => number;
  /** Requests whose connection was lost. */
  readonly resets: () => number;
  readonly calm: () => void;
  readonly close: () => Promise<void>;
}

async function requestOf(incoming: IncomingMessage, origin: string): Promise<Request> {
  const body = await buffer(incoming);
  const headers = new Headers();
  for (const [name, values] of Object.entries(incoming.headersDistinct)) {
    for (const value of values ?? []) headers.append(name, value);
  }
  return new Request(new URL(incoming.url ?? '/', origin), {
    method: 'POST',
    headers,
    body: new Uint8Array(body),
  });
}

/** The stage's clock has jumped, but this process's has not. */
class PatientVerifier extends Verifier {
  override verify(request: Parameters<Verifier['verify']>[0]): Promise<boolean> {
    return super.verify({ ...request, clockTolerance: 1e9 });
  }
}

/** @param okUrl a destination that always succeeds, for the step that makes a call */
export async function startWorkflowApp(
  seed: number,
  stage: StageHandle,
  okUrl: string,
): Promise<WorkflowApp> {
  const { url: baseUrl, token, signingKeys } = stage;
  const common = { baseUrl, token, enableTelemetry: false, retry: false } as const;
  const client = new Client({ ...common });
  const chance = new Chance(seed, 'workflow endpoint');
  let isCalm = false;
  let requests = 0;
  let resets = 0;
  // A short run makes few requests, so that one of the first is lost for sure.
  const lostFirst = chance.from(2, 5);
  let branches = 0;
  const serving = {
    qstashClient: new QstashClient(common),
    receiver: new PatientVerifier({
      currentSigningKey: signingKeys.current,
      nextSigningKey: signingKeys.next,
    }),
    env: {},
    disableTelemetry: true,
  } as const;
  const { handler: largeHandler } = serve<{ branches: number }>(async (context) => {
    const numbers = Array.from({ length: context.requestPayload.branches }, (_, number) => number);
    await Promise.all(
      numbers.map((number) =>
        context.run(`branch ${number}`, () => {
          branches += 1;
        }),
      ),
    );
  }, serving);
  const { handler } = serve<{ number: number }>(async (context) => {
    const { number } = context.requestPayload;
    const first = await context.run('first', () => number);
    await context.sleep('rest', 1 + (number % 3));
    const [one, two] = await Promise.all([
      context.run('one', () => first + 1),
      context.run('two', () => first + 2),
    ]);
    await context.call('ask', { url: okUrl, method: 'POST', body: String(number) });
    if (number % 4 === 0) await context.waitForEvent('wait', `event-${number}`, { timeout: '5s' });
    return context.run('last', () => {
      if (number % 11 === 0) throw new Error('This run fails.');
      return one + two;
    });
  }, serving);

  const { server, url: origin } = await listen((incoming, outgoing) => {
    void (async () => {
      const request = await requestOf(incoming, origin);
      requests += 1;
      if (!isCalm && (chance.is(0.04) || requests === lostFirst)) {
        if (!outgoing.destroyed) resets += 1;
        outgoing.socket?.resetAndDestroy();
        return;
      }
      const response = await (request.url === largeUrl ? largeHandler : handler)(request);
      const answer = await response.text();
      outgoing.writeHead(response.status, Object.fromEntries(response.headers)).end(answer);
    })().catch(() => {
      // The endpoint's client could not reach the stage. The service will retry.
      outgoing.writeHead(500).end();
    });
  });
  const largeUrl = `${origin}/large`;
  return {
    client,
    url: `${origin}/flow`,
    largeUrl,
    branches: () => branches,
    resets: () => resets,
    calm: () => {
      isCalm = true;
    },
    close: () => close(server),
  };
}
