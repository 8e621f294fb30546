/**
 * The environment for workflow runs: endpoints with the published client, and the API. Publish and workflows run in many
 * processes, as under load: a process has not seen a run before its request.
 */
import { Client as Qstash } from '@upstash/qstash';
import { Client, serve, type WorkflowContext } from '@upstash/workflow';
import { gatewayRoutes, type ApiFunction } from '../lambdas/http/routes.ts';
import { startGateway } from '../local/gateway/gateway.ts';
import type { LambdaFunction } from '../local/lambda/lambda.ts';
import type { Delivery } from '../test/support/receiver.ts';
import { takeOverClock } from '../test/support/testClock.ts';
import { callsOf, invocationUse, isCounted, ofBatch, requestUse } from './bills.ts';
import { endpointHeaders } from './branchSteps.ts';
import { startCopies } from './copies.ts';
import { deliveryQueues, type Fixture } from './fixture.ts';
import type { CountedUse, Use } from './meter.ts';
import { unlimited } from './stageClient.ts';

const functionNames = ['publish', 'workflows'] as const;
type Measured = (typeof functionNames)[number];
/**
 * More processes than a run has requests (except in the longest case), so that each request is handled by
 * another one.
 */
const processes = { publish: 17, workflows: 3 } as const;

export type Route = (context: WorkflowContext) => Promise<unknown>;

/** A request, a delivery, or an invocation for other work. */
export interface Happening {
  readonly kind: Measured | 'deliver';
  readonly calls: number;
  readonly uses: readonly Use[];
  readonly bytes: number;
}

export type RunStage = Awaited<ReturnType<typeof startRunStage>>;

const thirdPartyAnswer = JSON.stringify({ accepted: true, reference: 'pay_2f81c07ab4', amount: 184.35 });

export async function startRunStage(fixture: Fixture) {
  const { meter, standIns, receiver } = fixture;
  const { token } = await fixture.makeAccount(unlimited);
  let happenings: Happening[] = [];
  let last: object = {};

  const copies = {
    publish: await startCopies(meter, 'publish', processes.publish - 1),
    workflows: await startCopies(meter, 'workflows', processes.workflows),
  };
  const apart = await startCopies(meter, 'publish', 1);

  const note = (
    kind: Happening['kind'],
    measured: readonly CountedUse[],
    around: readonly Use[],
    bytes = 0,
  ): void => {
    const uses = measured.filter(isCounted);
    happenings.push({ kind, calls: callsOf(uses), uses: [...around, ...uses], bytes });
  };

  /** The meter measures one request at a time. */
  let before: Promise<unknown> = Promise.resolve();
  const measured = (name: Measured): LambdaFunction => ({
    name,
    invoke: (event) => {
      const invoked = before.then(() => invoke(name, event));
      before = invoked.catch(() => undefined);
      return invoked;
    },
  });
  const functions = { publish: measured('publish'), workflows: measured('workflows') };
  async function invoke(name: Measured, event: unknown): Promise<unknown> {
    if (name === 'publish' && typeof event === 'object' && event !== null) last = event;
    let answer: unknown;
    const uses = await meter.measure(name, async () => {
      answer = await copies[name](event);
    });
    note(name, uses, [requestUse(1), invocationUse(name, 1)]);
    return answer;
  }

  const failures: unknown[] = [];
  const gateway = await startGateway({
    port: 0,
    routes: gatewayRoutes,
    functions: new Map<ApiFunction, LambdaFunction>(functionNames.map((name) => [name, functions[name]])),
    ready: Promise.resolve(),
    report: (error) => failures.push(error),
  });
  const qstash = new Qstash({ baseUrl: gateway.url, token, enableTelemetry: false, retry: false });

  const handlers = new Map<string, (request: Request) => Promise<Response>>();
  // The endpoint answers at once and works after the batch, so that its work is not counted with the batch.
  const endpoint = receiver.inbox((_delivery, response) => response.writeHead(200, endpointHeaders).end());
  const thirdParty = receiver.inbox((_delivery, response) => {
    response.writeHead(200, { 'Content-Type': 'application/json' }).end(thirdPartyAnswer);
  });
  let answered = 0;

  async function answerFor({ target, headerPairs, body }: Delivery): Promise<void> {
    const handler = handlers.get(target);
    if (handler === undefined) throw new Error(`There is no endpoint ${target}.`);
    const headers = new Headers();
    for (const [name, value] of headerPairs) if (name !== 'connection') headers.append(name, value);
    const request = new Request(new URL(target, receiver.origin), {
      method: 'POST',
      headers,
      body: new Uint8Array(body),
    });
    const response = await handler(request);
    const text = await response.text();
    if (response.status !== 200) throw new Error(`The endpoint answered ${response.status}: ${text}`);
    if (failures.length > 0) throw new Error('A function failed.', { cause: failures[0] });
  }

  const clock = takeOverClock();
  const { queues } = standIns.sqs;
  function untilDue(): boolean {
    const due = deliveryQueues.flatMap((name) => queues.nextDueIn(name) ?? []);
    if (due.length === 0) return false;
    // Jobs that are due within a second arrive together, as under load, because SQS has a resolution of a
    // second.
    clock.moveTo(Date.now() + Math.min(...due) + 1_000);
    queues.wake();
    return true;
  }
  const waiting = (): number => deliveryQueues.reduce((sum, name) => sum + queues.unsettled(name).length, 0);

  return {
    client: new Client({ baseUrl: gateway.url, token, enableTelemetry: false, retry: false }),
    thirdParty: `${thirdParty.url}/v1/payments`,
    serve: (route: Route) => {
      const workflowId = `flow${handlers.size}`;
      // A realistic length: it is in the run's rows, which are billed by size.
      const url = `${endpoint.url}/api/workflows/orders/${workflowId}`;
      const { handler } = serve(route, {
        qstashClient: qstash,
        receiver: undefined,
        env: {},
        disableTelemetry: true,
      });
      handlers.set(new URL(url).pathname, handler);
      return { url, workflowId };
    },
    lastRequest: () => last,
    /** Calls a publish process that gets no other requests. Not counted. */
    publish: apart,
    purge: fixture.purge,
    /**
     * Delivers waiting work in batches of this size, and answers for the endpoints.
     *
     * @param batches the most batches
     * @returns whether there was any work
     */
    deliver: async (size: number, batches = Infinity): Promise<boolean> => {
      if (waiting() === 0 && !untilDue()) return false;
      let made = 0;
      for (let count = waiting(); count > 0 && made < batches; count = waiting()) {
        made += 1;
        const uses = await fixture.measureDelivery(Math.min(size, count));
        const arrived = endpoint.deliveries.slice(answered);
        answered = endpoint.deliveries.length;
        const bytes = arrived.reduce((sum, { body }) => sum + body.length, 0);
        note('deliver', uses, ofBatch([]), bytes);
        for (const delivery of arrived) await answerFor(delivery);
      }
      return true;
    },
    take: (): readonly Happening[] => {
      const taken = happenings;
      happenings = [];
      return taken;
    },
    close: async (): Promise<void> => {
      clock.release();
      await gateway.stop(AbortSignal.abort());
    },
  };
}
