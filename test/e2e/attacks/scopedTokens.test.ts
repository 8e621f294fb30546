import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { makeAccount, manage, type AccountRecord } from '../../support/accounts.ts';
import { api, ok, query, unique } from '../../support/api.ts';
import { invokeOf } from '../../support/invokes.ts';
import { call, publish, refusalOf, type Answer } from '../../support/publish.ts';
import { startReceiver, type Inbox, type Receiver } from '../../support/receiver.ts';

/**
 * An attacker has a token for one destination, and puts another URL in each place of a request that takes one. No request may
 * arrive there, and no other run may change.
 */

let receiver: Receiver;
let account: AccountRecord;
let allowed: Inbox;
let elsewhere: Inbox;
let token: string;

const made = z.object({ token: z.string() });

beforeAll(async () => {
  [receiver, account] = await Promise.all([startReceiver(), makeAccount()]);
  allowed = receiver.inbox();
  elsewhere = receiver.inbox();
  const body = { name: 'leaked', scope: 'publish', destinations: [allowed.url, 'group:teamgroup'] };
  token = made.parse((await manage('POST', `/v2/svc/users/${account.id}/tokens`, { body })).json).token;
  for (const [name, { url }] of [
    ['teamgroup', allowed],
    ['othergroup', elsewhere],
  ] as const) {
    await ok(
      api('POST', `/v2/topics/${name}/endpoints`, { token: account.token, body: { endpoints: [{ url }] } }),
    );
  }
});
afterAll(() => receiver.close());

interface Sent {
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

const send = ({ path, headers = {}, body = '' }: Sent, by = token): Promise<Answer> =>
  call(path, { method: 'POST', headers: { authorization: `Bearer ${by}`, ...headers }, body });

interface Run {
  readonly runId: string;
  readonly url: string;
}

const started = z.tuple([z.object({ workflowRunId: z.string() })]);

/** Starts a run, by default with the account’s own token. */
async function start({ url }: Inbox, by = account.token): Promise<Run> {
  const headers = { 'upstash-workflow-init': 'true', 'upstash-workflow-sdk-version': '1' };
  const body = JSON.stringify([{ destination: url, headers, body: '{}' }]);
  const [run] = started.parse(await ok(send({ path: '/v2/batch', body }, by)));
  return { runId: run.workflowRunId, url };
}

const ofRun = ({ runId, url }: Run): Record<string, string> => ({
  'Upstash-Workflow-Init': 'false',
  'Upstash-Workflow-RunId': runId,
  'Upstash-Workflow-Url': url,
  'Upstash-Workflow-Sdk-Version': '1',
});
const step = { stepId: 1, stepName: 'one', stepType: 'Run', out: '1', concurrent: 1 };
const submission = (run: Run, more: object = {}, headers: object = {}): Sent => ({
  path: '/v2/batch',
  body: JSON.stringify([
    { destination: run.url, headers: { ...ofRun(run), ...headers }, body: JSON.stringify(step), ...more },
  ]),
});
const callStep = (run: Run, destination: string, callback: string): Sent => ({
  path: `/v2/publish/${destination}`,
  headers: {
    ...ofRun(run),
    'Upstash-Workflow-CallType': 'toCallback',
    'Upstash-Callback': callback,
    'Upstash-Callback-Workflow-RunId': run.runId,
    'Upstash-Callback-Workflow-CallType': 'fromCallback',
    'Upstash-Callback-Workflow-Init': 'false',
    'Upstash-Callback-Workflow-Url': run.url,
    'Upstash-Callback-Forward-Upstash-Workflow-Callback': 'true',
    'Upstash-Callback-Forward-Upstash-Workflow-ContentType': 'application/json',
    'Upstash-Callback-Forward-Upstash-Workflow-StepId': '1',
    'Upstash-Callback-Forward-Upstash-Workflow-StepName': 'call',
    'Upstash-Callback-Forward-Upstash-Workflow-StepType': 'Call',
    'Upstash-Callback-Forward-Upstash-Workflow-Concurrent': '1',
  },
});
const invoke = (run: Run, destination: string, more: object = {}): Sent =>
  invokeOf(run, destination, { ...ofRun(run), 'Upstash-Workflow-RunId': unique('wfr_child') }, more);

/** Each place that takes a URL or a group. Each gets a run of the token’s own. */
const places: readonly (readonly [place: string, sent: (other: string, run: Run) => Sent])[] = [
  ['the destination of a publish', (other) => ({ path: `/v2/publish/${other}` })],
  ['a destination that climbs', () => ({ path: `/v2/publish/${allowed.url}/..;/x` })],
  ['a URL group', () => ({ path: '/v2/publish/othergroup' })],
  ['the destination of an enqueue', (other) => ({ path: `/v2/enqueue/teamgroup/${other}` })],
  ['a queue with the name of its group', () => ({ path: `/v2/enqueue/teamgroup/${allowed.url}` })],
  ['a callback', (other) => ({ path: `/v2/publish/${allowed.url}`, headers: { 'Svc-Callback': other } })],
  [
    'a callback in the query',
    (other) => ({ path: `/v2/publish/${allowed.url}?svc-failure-callback=${encodeURIComponent(other)}` }),
  ],
  [
    'a callback of a group’s message',
    (other) => ({ path: '/v2/publish/teamgroup', headers: { 'Svc-Failure-Callback': other } }),
  ],
  ['the destination of a trigger', (other) => ({ path: `/v2/trigger/${other}` })],
  [
    'the failure callback of a trigger',
    (other) => ({ path: `/v2/trigger/${allowed.url}`, headers: { 'Svc-Failure-Callback': other } }),
  ],
  [
    'the destination of triggers',
    (other) => ({ path: '/v2/batch/trigger', body: JSON.stringify([{ destination: other }]) }),
  ],
  ['the destination of a submission', (other, run) => submission(run, { destination: other })],
  [
    'the failure callback of a submission',
    (other, run) => submission(run, {}, { 'Upstash-Failure-Callback': other }),
  ],
  ['the destination of a call', (other, run) => callStep(run, other, run.url)],
  ['the callback of a call', (other, run) => callStep(run, run.url, other)],
  ['the destination of an invoke', (other, run) => invoke(run, other)],
  ['the run that waits for an invoke', (other, run) => invoke(run, run.url, { workflowUrl: other })],
  [
    'the failure callback that an invoke names',
    (other, run) =>
      invoke(run, run.url, { headers: { 'Upstash-Failure-Callback': [other], 'Upstash-Callback': [other] } }),
  ],
];

describe('a token for one destination', () => {
  it.each(places)('reaches no other destination through %s', async (_place, sent) => {
    const run = await start(allowed, token);
    const answer = await send(sent(elsewhere.url, run));
    // If an endpoint is refused, only its own run fails.
    expect([403, 412]).toContain(answer.status);
    expect(refusalOf(answer).error).toContain('the token may only publish to');
  });

  it('cannot change the steps, events or state of a run at another destination', async () => {
    const other = await start(elsewhere);
    const before = await elsewhere.received(1);
    const forged = [
      submission(other),
      submission({ ...other, url: allowed.url }),
      callStep({ ...other, url: allowed.url }, allowed.url, allowed.url),
      invoke({ ...other, url: allowed.url }, allowed.url),
      submission(other, { destination: 'ftp://x' }),
      { path: `/v2/notify/${other.runId}/paid`, body: '{}' },
    ];
    for (const sent of forged) {
      const answer = await send(sent);
      expect([400, 403, 412]).toContain(answer.status);
      expect([sent.path, refusalOf(answer).error]).toEqual([
        sent.path,
        expect.stringMatching(/the token may only publish to|ftp/),
      ]);
    }
    const log = await api('GET', `/v2/workflows/logs${query({ workflowRunId: other.runId })}`, {
      token: account.token,
    });
    expect(log.json).toMatchObject({ runs: [{ workflowState: 'RUN_STARTED' }] });
    expect(elsewhere.deliveries.length).toBe(before.length);
  });

  it('wakes only runs at its own destinations with an event', async () => {
    const [own, other] = [await start(allowed, token), await start(elsewhere)];
    const eventId = unique('event');
    const wait = (run: Run): Sent => ({
      path: `/v2/wait/${eventId}`,
      headers: ofRun(run),
      body: JSON.stringify({
        ...{ url: run.url, timeout: '1h', timeoutUrl: run.url, timeoutHeaders: {} },
        step: { stepId: 1, stepName: 'wait', stepType: 'Wait', concurrent: 1 },
      }),
    });
    for (const run of [own, other]) await ok(send(wait(run), account.token));
    const notified = await send({ path: `/v2/notify/${eventId}`, body: '{}' });
    const woken = z.array(z.object({ workflowRunId: z.string() })).parse(notified.json);
    expect(woken.map(({ workflowRunId }) => workflowRunId)).toEqual([own.runId]);
    const waiters = await ok(api('GET', `/v2/waiters/${eventId}`, { token: account.token }));
    expect(waiters).toHaveLength(1);
  });

  it('has sent nothing elsewhere in all these tests', async () => {
    const count = elsewhere.deliveries.length;
    // If an earlier request had been accepted, its message would have arrived before this one.
    const before = allowed.deliveries.length;
    await ok(publish(allowed.url, { token, body: 'last' }));
    await allowed.until((deliveries) =>
      deliveries.slice(before).some(({ body }) => body.toString() === 'last'),
    );
    expect(elsewhere.deliveries.length).toBe(count);
    // Only the two runs that other tests started there.
    expect(
      elsewhere.deliveries.filter(({ headers }) => headers['upstash-workflow-runid'] === undefined),
    ).toEqual([]);
  });
});
