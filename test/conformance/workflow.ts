/**
 * The operations of `@upstash/workflow`. A case calls only what its name mentions, so that it runs in every version that
 * declares that.
 */
import * as qstash from '@upstash/qstash';
import * as workflow from '@upstash/workflow';
import * as nextjs from '@upstash/workflow/nextjs';
import { deepEqual, equal, match } from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { eventually } from '../support/eventually.ts';
import { NotOffered, receiveFor, receiver, runOperations, token, url, type Handler } from './harness.ts';
import { deadLetterOfRun, signingKeys, stateOf } from './service.ts';

type Route = (context: workflow.WorkflowContext) => Promise<unknown>;

const keys = await signingKeys();
const qstashClient = new qstash.Client({ baseUrl: url, token });
const client = new workflow.Client({ baseUrl: url, token });
const unique = (name: string): string => `${name}-${randomUUID().slice(0, 8)}`;

/** Before version 0.2 this is the handler itself; since then, an object with the handler. */
function handlerOf(served: object): Handler {
  const isHandler = (value: unknown): value is Handler => typeof value === 'function';
  const handler = 'handler' in served ? served.handler : served;
  if (!isHandler(handler)) throw new Error('serve gave back no handler.');
  return handler;
}

/** Versions before 1.0 take this here; later ones take it when a run is triggered. */
const withoutRetries = { retries: 0 };

/** The error with which newer versions prevent retries. */
const Failure = 'WorkflowNonRetryableError' in workflow ? workflow.WorkflowNonRetryableError : Error;

const verifying = { qstashClient, receiver: new qstash.Receiver(keys), env: {}, ...withoutRetries };

/** Serves a workflow at a path of the receiver. It verifies signatures unless `isOpen`. */
function serve(route: Route, options: { failureFunction?: () => void; isOpen?: boolean } = {}): string {
  const { failureFunction, isOpen = false } = options;
  const served = workflow.serve(route, {
    ...verifying,
    ...(isOpen && { receiver: undefined }),
    ...(failureFunction && { failureFunction }),
  });
  return receiveFor(handlerOf(served));
}

/** Starts a run with a request to its endpoint, as every version can. @returns the run's id */
async function start(endpoint: string, body = '{"n":1}'): Promise<string> {
  const response = await fetch(endpoint, { method: 'POST', body });
  const text = await response.text();
  equal(response.status, 200, text);
  const { workflowRunId } = JSON.parse(text) as { workflowRunId: string };
  return workflowRunId;
}

/** Runs a workflow that a request started. @returns the route's result */
function ran<T>(route: (context: workflow.WorkflowContext) => Promise<T>): Promise<T> {
  return new Promise((done, failed) => {
    const endpoint = serve(
      async (context) => {
        const value = await route(context);
        await context.run('done', () => {
          done(value);
        });
      },
      { isOpen: true },
    );
    start(endpoint).catch(failed);
  });
}

/** Versions before 1.0 need this when a run is triggered; later ones do it by default. */
const toldOfFailure = { useFailureFunction: true };

/** Starts a run through the client. @returns its id */
async function triggered(endpoint: string): Promise<string> {
  const settings = { url: endpoint, body: { n: 1 }, retries: 0, ...toldOfFailure };
  return (await client.trigger(settings)).workflowRunId;
}

const failing: Route = async (context) => {
  await context.run('bad', () => {
    throw new Failure('broken');
  });
};

/** Makes a run fail. @returns the id of its dead letter */
const deadLettered = async (): Promise<string> => deadLetterOfRun(await triggered(serve(failing)));

await runOperations({
  'serve, run': async () => {
    const value = await ran(async (context) => {
      const one = await context.run('one', () => 1);
      return [context.requestPayload, await context.run('two', () => one + 1)];
    });
    deepEqual(value, [{ n: 1 }, 2]);
  },
  'run; in parallel': async () => {
    const value = await ran(async (context) => {
      const [one, two] = await Promise.all([context.run('one', () => 1), context.run('two', () => 2)]);
      await Promise.all([context.sleep('nap', 1), context.run('three', () => 3)]);
      return context.run('sum', () => one + two);
    });
    equal(value, 3);
  },
  'sleep, sleepUntil': async () => {
    const woke = await ran(async (context) => {
      await context.sleep('nap', 1);
      await context.sleepUntil('later', new Date(Date.now() + 1_000));
      return 'woke';
    });
    equal(woke, 'woke');
  },
  call: async () => {
    const third = receiver.inbox((_delivery, response) =>
      response.writeHead(201, { 'content-type': 'application/json' }).end('{"hello":"you"}'),
    );
    const { status, body } = await ran((context) =>
      context.call('third', { url: third.url, method: 'POST', body: 'asked' }),
    );
    deepEqual([status, body], [201, { hello: 'you' }]);
  },
  failureFunction: async () => {
    await new Promise<void>((done, failed) => {
      const endpoint = serve(failing, { isOpen: true, failureFunction: done });
      // Versions before 0.2.14 report the failure of runs started by the endpoint, later ones of runs started by the client.
      ('dlq' in client ? triggered(endpoint) : start(endpoint)).catch(failed);
    });
  },
  'waitForEvent(WaitEventOptions), getWaiters, notify': async () => {
    const eventId = unique('event');
    const running = ran((context) => context.waitForEvent('wait', eventId, { timeout: '1m' }));
    await eventually(
      () => client.getWaiters({ eventId }),
      ({ length }) => length > 0,
    );
    await client.notify({ eventId, eventData: { paid: true } });
    deepEqual((await running).eventData, { paid: true });
  },
  'createWebhook, waitForWebhook': async () => {
    const made = ran(async (context) => {
      const webhook = await context.createWebhook('make');
      await context.run('tell', () =>
        fetch(webhook.webhookUrl, { method: 'POST', body: 'hooked' }).then(() => 1),
      );
      const { request } = await context.waitForWebhook('wait', webhook, '1m');
      return request?.text();
    });
    equal(await made, 'hooked');
  },
  trigger: async () => {
    equal(await stateOf(await triggered(serve((context) => context.run('one', () => 1)))), 'RUN_SUCCESS');
  },
  logs: async () => {
    if (!('logs' in client)) return new NotOffered('logs');
    const id = await triggered(serve((context) => context.run('one', () => 1)));
    await stateOf(id);
    // oxlint-disable-next-line typescript/no-deprecated -- Old versions take a filter as it is.
    const { runs } = await client.logs({ workflowRunId: id, ...{ filter: { workflowRunId: id } } });
    deepEqual(
      runs.map(({ workflowRunId, workflowState }) => [workflowRunId, workflowState]),
      [[id, 'RUN_SUCCESS']],
    );
    return undefined;
  },
  'cancel({ ids })': async () => {
    const id = await triggered(serve((context) => context.sleep('long', 3_600)));
    // oxlint-disable-next-line typescript/no-deprecated -- Users of the first versions that have it call it.
    deepEqual(await client.cancel({ ids: id }), { cancelled: 1 });
    equal(await stateOf(id), 'RUN_CANCELED');
  },
  'cancel; by the run itself': async () => {
    if (!('cancel' in workflow.WorkflowContext.prototype)) return new NotOffered('cancel');
    const endpoint = serve(
      async (context) => {
        await context.run('one', () => 1);
        await context.cancel();
      },
      { isOpen: true },
    );
    equal(await stateOf(await start(endpoint)), 'RUN_CANCELED');
    return undefined;
  },
  'dlq.resume({ dlqId }), restart': async () => {
    const [first, second] = await Promise.all([deadLettered(), deadLettered()]);
    // oxlint-disable-next-line typescript/no-deprecated -- Old versions have nothing else.
    const resumed = await client.dlq.resume({ dlqId: first });
    match(resumed.workflowRunId, /^wfr_/);
    // oxlint-disable-next-line typescript/no-deprecated -- Old versions have nothing else.
    const restarted = await client.dlq.restart({ dlqId: second });
    match(restarted.workflowRunId, /^wfr_/);
  },
  'dlq.resume({ filter, dlqIds })': async () => {
    equal((await client.dlq.resume([await deadLettered()])).workflowRuns.length, 1);
  },
  invoke: async () => {
    if (!('invoke' in workflow.WorkflowContext.prototype)) return new NotOffered('invoke');
    const child: Route = (context) => context.run('get', () => context.requestPayload);
    const workflowId = new URL(serve(child)).pathname.slice(1);
    const { body, isFailed } = await ran((context) =>
      context.invoke('ask', { workflow: { routeFunction: child, options: {}, workflowId }, body: 'hello' }),
    );
    deepEqual([body, isFailed], ['hello', false]);
    return undefined;
  },
  'serveMany, createWorkflow, invoke': () =>
    new Promise<void>((done, failed) => {
      const child = nextjs.createWorkflow((context: workflow.WorkflowContext<string>) =>
        context.run('get', () => `${context.requestPayload} there`),
      );
      const parent = nextjs.createWorkflow(async (context: workflow.WorkflowContext) => {
        const answers = await Promise.all([
          context.invoke('first', { workflow: child, body: 'hello' }),
          context.invoke('second', { workflow: child, body: 'you' }),
        ]);
        await context.run('check', () => {
          deepEqual(
            answers.map(({ body }) => body),
            ['hello there', 'you there'],
          );
        });
        await context.run('done', () => {
          done();
        });
      });
      const { POST } = nextjs.serveMany({ parent, child }, verifying);
      triggered(`${receiveFor(POST)}/parent`).catch(failed);
    }),
});
