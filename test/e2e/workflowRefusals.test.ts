import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { makeAccount, type AccountRecord } from '../support/accounts.ts';
import { api, ok, query } from '../support/api.ts';
import { eventually } from '../support/eventually.ts';
import { invokeOf } from '../support/invokes.ts';
import { call, type Answer } from '../support/publish.ts';
import { startReceiver, type Inbox, type Receiver } from '../support/receiver.ts';

/**
 * Clients take 400 for the end of the run: they answer their delivery with success, or (older ones) retry.
 * The endpoints here answer 200 to everything, but no run may stay open.
 */

interface Run {
  readonly runId: string;
  readonly createdAt: number;
  readonly url: string;
  readonly told: Inbox;
}

interface Sent {
  readonly method?: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string;
}

let receiver: Receiver;
let account: AccountRecord;
beforeAll(async () => {
  [receiver, account] = await Promise.all([startReceiver(), makeAccount()]);
});
afterAll(() => receiver.close());

const send = ({ method = 'POST', path, headers = {}, body }: Sent, token = account.token): Promise<Answer> =>
  call(path, { method, headers: { authorization: `Bearer ${token}`, ...headers }, body });

const started = z.tuple([z.object({ workflowRunId: z.string(), workflowCreatedAt: z.number() })]);

async function start(token = account.token): Promise<Run> {
  const endpoint = receiver.inbox();
  const told = receiver.inbox();
  const headers = {
    'upstash-workflow-init': 'true',
    'upstash-workflow-sdk-version': '1',
    'upstash-feature-set': 'LazyFetch,InitialBody,WF_TriggerOnConfig',
    'upstash-failure-callback': told.url,
  };
  const body = JSON.stringify([{ destination: endpoint.url, headers, body: '{}' }]);
  const [run] = started.parse(await ok(send({ path: '/v2/batch', body }, token)));
  return { runId: run.workflowRunId, createdAt: run.workflowCreatedAt, url: endpoint.url, told };
}

const ofRun = ({ runId, url }: Run) => ({
  'Upstash-Workflow-Init': 'false',
  'Upstash-Workflow-RunId': runId,
  'Upstash-Workflow-Url': url,
  'Upstash-Feature-Set': 'LazyFetch,InitialBody',
  'Upstash-Workflow-Sdk-Version': '1',
});
const step = { stepId: 1, stepName: 'one', stepType: 'Run', out: '1', concurrent: 1 };

const batch = (items: unknown): Sent => ({ path: '/v2/batch', body: JSON.stringify(items) });
const itemOf = (run: Run, more: object = {}, headers: object = {}) => ({
  destination: run.url,
  headers: { ...ofRun(run), ...headers },
  body: JSON.stringify(step),
  ...more,
});
const stepWith = (more: object) => (run: Run) =>
  batch([itemOf(run, { body: JSON.stringify({ ...step, ...more }) })]);
const itemWith =
  (more: object, headers: object = {}) =>
  (run: Run) =>
    batch([itemOf(run, more, headers)]);

const waitWith =
  (more: object, path = 'paid') =>
  (run: Run): Sent => ({
    path: `/v2/wait/${path}`,
    headers: ofRun(run),
    body: JSON.stringify({
      url: run.url,
      timeout: '1h',
      timeoutUrl: run.url,
      timeoutHeaders: {},
      step: { stepId: 1, stepName: 'wait', stepType: 'Wait', concurrent: 1 },
      ...more,
    }),
  });

const invokeWith =
  (more: object, headers: Readonly<Record<string, string>> = {}, destination?: string) =>
  (run: Run): Sent => {
    const all = { ...ofRun(run), 'Upstash-Workflow-RunId': 'wfr_child', ...headers };
    return invokeOf(run, destination ?? run.url, all, more);
  };

const cutOff =
  (make: (run: Run) => Sent) =>
  (run: Run): Sent => {
    const sent = make(run);
    return { ...sent, body: sent.body.slice(0, -12) };
  };

const wrong: readonly (readonly [what: string, sent: (run: Run) => Sent, says: RegExp])[] = [
  ['a destination of another scheme', itemWith({ destination: 'ftp://x' }), /^\[0\]\.destination is "ftp:/],
  ['a queue', itemWith({ queue: 'orders' }), /through a queue/],
  ['a body over the limit', itemWith({ body: 'x'.repeat(1_500) }), /max_message_size is 1024/],
  ['a step out of its place', stepWith({ stepId: 7 }), /the next step of the run is 1/],
  ['half a group', stepWith({ stepId: 0, targetStep: 1, concurrent: 2 }), /parallel group/],
  [
    'too many items',
    (run) =>
      batch(
        Array.from({ length: 10_001 }, () => ({
          headers: { 'Upstash-Workflow-RunId': run.runId, 'Upstash-Workflow-Init': 'false' },
        })),
      ),
    /^The body has 10001 messages; allowed are 10000/,
  ],
  ['an item of no workflow', (run) => batch([itemOf(run), { destination: run.url }]), /^\[1\]: /],
  ['a batch that was cut off', cutOff(itemWith({})), /^The body is not JSON/],
  [
    'a result by publish that is no JSON',
    (run) => ({ path: `/v2/publish/${run.url}`, headers: ofRun(run), body: '{"stepId":1' }),
    /The step is not JSON/,
  ],
  [
    'a result by a queue',
    (run) => ({ path: `/v2/enqueue/a%20b/${run.url}`, headers: ofRun(run), body: JSON.stringify(step) }),
    /^The name of the queue is "a b"/,
  ],
  ['a wait for a long event', waitWith({}, 'e'.repeat(300)), /^The id of the event/],
  ['a wait for a refused URL', waitWith({ url: 'http://169.254.169.254/' }), /^url is/],
  ['an invoke of a refused URL', invokeWith({}, {}, 'http://10.0.0.1/x'), /^The destination is/],
  ['an invoke that was cut off', cutOff(invokeWith({})), /^The invoke is not JSON/],
  [
    'a returned value over the limit',
    (run) => ({
      method: 'DELETE',
      path: `/v2/workflows/runs/${run.runId}?cancel=false`,
      body: JSON.stringify('x'.repeat(1_500)),
    }),
    /max_message_size is 1024/,
  ],
];

const logOf = z.object({
  runs: z.tuple([
    z.looseObject({
      workflowState: z.string(),
      dlqId: z.optional(z.string()),
      steps: z.array(
        z.looseObject({
          type: z.string(),
          steps: z.array(z.looseObject({ state: z.string(), stepId: z.optional(z.number()) })),
        }),
      ),
    }),
  ]),
});
const readLog = async ({ runId }: Run, token = account.token) =>
  logOf.parse(await ok(api('GET', `/v2/workflows/logs${query({ workflowRunId: runId })}`, { token })))
    .runs[0];

const toldShape = z.object({
  workflowRunId: z.string(),
  status: z.number(),
  body: z.string(),
  dlqId: z.string(),
});
/** Returns the failure message’s status, and what the client’s failure function reads. */
async function toldOf({ told }: Run) {
  const [delivery] = await told.received(1);
  const read = toldShape.parse(JSON.parse(String(delivery?.body)));
  return {
    ...read,
    answer: z.object({ message: z.string() }).parse(JSON.parse(Buffer.from(read.body, 'base64').toString())),
  };
}

const errorOf = ({ json }: Answer): string => z.object({ error: z.string() }).parse(json).error;

describe('a wrong request of an endpoint', () => {
  it('fails its run with the refusal’s sentence, and is answered with 412', async () => {
    const small = await makeAccount({ max_message_size: 1_024 });
    await Promise.all(
      wrong.map(async ([what, sent, says]) => {
        const run = await start();
        const isOver = says.source.includes('max_message_size');
        const owned = isOver ? await start(small.token) : run;
        const token = isOver ? small.token : account.token;
        const answer = await send(sent(owned), token);
        const sentence = errorOf(answer);
        expect([what, answer.status, sentence]).toEqual([what, 412, expect.stringMatching(says)]);
        const told = await toldOf(owned);
        expect([what, told.answer.message, told.status]).toEqual([what, sentence, 412]);
        const log = await readLog(owned, token);
        expect([what, log.workflowState, log.dlqId]).toEqual([what, 'RUN_FAILED', told.dlqId]);
        const [next] = log.steps.at(-1)?.steps ?? [];
        expect([what, next?.state]).toEqual([what, 'STEP_FAILED']);
      }),
    );
  });

  it('is answered with 400 if its run has ended, and changes nothing', async () => {
    const run = await start();
    await ok(api('DELETE', `/v2/workflows/runs/${run.runId}`, { token: account.token }));
    const answers = await Promise.all(
      wrong.slice(0, -1).map(async ([what, sent]) => [what, (await send(sent(run))).status]),
    );
    expect(answers).toEqual(wrong.slice(0, -1).map(([what]) => [what, 400]));
    expect((await readLog(run)).workflowState).toBe('RUN_CANCELED');
  });

  it.each([
    ['with no token', '', 401],
    ['with a wrong token', 'bm9uZQ==', 401],
  ])('%s does not change its run', async (_what, token, status) => {
    const run = await start();
    expect((await send(itemWith({ destination: 'ftp://x' })(run), token)).status).toBe(status);
    await goesOn(run);
  });

  it('with a read-only token, or with another account’s, does not change its run', async () => {
    const [run, other] = await Promise.all([start(), makeAccount()]);
    const sent = itemWith({ destination: 'ftp://x' })(run);
    expect((await send(sent, account.read_only_token)).status).toBe(403);
    // The other account has no such run.
    expect((await send(sent, other.token)).status).toBe(400);
    await goesOn(run);
  });
});

/** Expects that a run accepts a valid step. If a job were to fail the run, it would have done so before. */
async function goesOn(run: Run): Promise<void> {
  const body = JSON.stringify({ ...step, stepType: 'SleepFor', sleepFor: 5 });
  await ok(send(batch([itemOf(run, { body }, { 'Upstash-Delay': '5s' })])));
  const log = await eventually(
    () => readLog(run),
    ({ steps }) =>
      steps.flatMap((group) => group.steps).some((one) => one.stepId === 1 && one.state === 'STEP_SUCCESS'),
  );
  expect(log.workflowState).toBe('RUN_STARTED');
}

describe('a lenient format of an endpoint', () => {
  it('is accepted: numbers as texts, bodies as JSON, null and an empty queue as absent, unknown fields', async () => {
    const run = await start();
    const item = itemOf(
      run,
      { body: step, queue: '', futureField: { a: 1 } },
      { 'X-Number': 7, 'X-True': true, 'X-None': null, 'Upstash-Retries': 3 },
    );
    await ok(send(batch([item])));
    await ok(
      send(
        batch([
          { ...itemOf(run), queue: null, headers: ofRun(run), body: JSON.stringify({ ...step, stepId: 2 }) },
        ]),
      ),
    );
    expect((await readLog(run)).steps.filter(({ type }) => type === 'sequential')).toHaveLength(3);
  });
});
