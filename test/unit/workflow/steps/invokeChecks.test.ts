import { describe, expect, it } from 'vitest';
import { imported } from '../../../support/imported.ts';
import { acts, fixture, runFixture, useRuns } from '../../../support/useRuns.ts';
import type { PublishRequest } from '../../../../lambdas/publish/prepare.ts';
import { answered } from '../../../support/answered.ts';
import { stepOf } from '../../../support/runActs.ts';
import { endpoint } from '../../../support/startSettings.ts';
import { requestOf } from '../../../support/fixture.ts';

/** An invoke that cannot succeed is refused at once with 412, the only status that fails its invoker. */

useRuns();
const lambdas = imported(() => import('../../../../lambdas/workflow/steps/publishParts.ts'));

interface Asked {
  readonly body?: Readonly<Record<string, unknown>>;
  readonly config?: Readonly<Record<string, string>>;
  readonly destination?: string;
}

let runs = 0;
/** Returns an active run and its request to invoke another. */
async function invoker() {
  runs += 1;
  const [runId, child] = [`wfr_asks_${runs}`, `wfr_asked_${runs}`];
  const { createdAt } = await runFixture.start(runId);
  await fixture.drain();
  const requestWith = ({ body = {}, config = {}, destination = endpoint }: Asked): PublishRequest =>
    requestOf(
      destination,
      {
        'workflow-init': 'true',
        'workflow-invoke': 'true',
        'workflow-runid': child,
        'workflow-url': endpoint,
        'workflow-sdk-version': '1',
        ...config,
      },
      JSON.stringify({
        body: '{"n":1}',
        headers: { 'Upstash-Workflow-Init': ['false'] },
        workflowRunId: runId,
        workflowRunCreatedAt: createdAt,
        workflowUrl: endpoint,
        step: stepOf(1, 'Invoke'),
        ...body,
      }),
    );
  return {
    runId,
    child,
    invoke: (asked: Asked = {}) => {
      const request = requestWith(asked);
      return answered(fixture.account, request, () => lambdas.publishRequests(fixture.account, [request]));
    },
  };
}

const secret = 'https://user:pa55word@';
const refused: readonly (readonly [what: string, asked: Asked, says: RegExp])[] = [
  ['a workflowUrl that is none', { body: { workflowUrl: 'orders' } }, /^workflowUrl is "orders"/],
  ['a workflowUrl whose port is none', { body: { workflowUrl: `${secret}h:99999/x` } }, /^workflowUrl is/],
  [
    'a private workflowUrl',
    { body: { workflowUrl: 'http://10.1.2.3/x' } },
    /^workflowUrl is .* not a public/,
  ],
  [
    'a workflowUrl at the service itself',
    { body: { workflowUrl: 'https://api.example.com/v2/publish/x' } },
    /^workflowUrl is .* this service itself/,
  ],
  [
    'a workflowUrl of 9,000 characters',
    { body: { workflowUrl: `${endpoint}/${'x'.repeat(9_000)}` } },
    /^workflowUrl has \d+ characters; allowed are 8192/,
  ],
  [
    'headers that are no headers',
    { body: { headers: { 'a b': ['x'] } } },
    /^headers\.a b is not a valid HTTP header/,
  ],
  ['a header with a line break', { body: { headers: { a: ['x\ny'] } } }, /^headers\.a /],
  ['headers of 11 KB', { body: { headers: { a: ['x'.repeat(11_000)] } } }, /^headers have \d+ bytes/],
  [
    'a setting among them that is none',
    { body: { headers: { 'Svc-Retries': ['many'] } } },
    /^Svc-Retries is/,
  ],
  ['a destination at a private address', { destination: 'http://192.168.1.1/x' }, /^The destination is/],
  ['a destination that is a URL group', { destination: 'group' }, /URL group/],
  ['retries that are no number', { config: { retries: 'many' } }, /^Svc-Retries is "many"/],
  ['a run id with a slash', { config: { 'workflow-runid': 'a/b' } }, /^Svc-Workflow-Runid is "a\/b"/],
  [
    'a failure callback that is none',
    { config: { 'failure-callback': 'nowhere' } },
    /^Svc-Failure-Callback is/,
  ],
  ['a step of another type', { body: { step: stepOf(1, 'Run') } }, /^step\.stepType is Run/],
];

describe('an invoke with', () => {
  it.each(refused)(
    '%s is refused with 412, and changes nothing, or with 400 once its invoker has ended',
    async (_what, asked, says) => {
      const { runId, child, invoke } = await invoker();
      const refusal = await invoke(asked).catch((error: unknown) => error);
      expect(refusal).toMatchObject({ status: 412, message: expect.stringMatching(says) as unknown });
      expect(String(refusal)).not.toContain('pa55word');
      expect(await acts.kinds(runId)).toEqual(['start']);
      expect(await acts.records(child)).toEqual([]);
      // The job that fails the run is due a few seconds later.
      expect((await fixture.drain()).filter(({ kind }) => kind !== 'runRefused')).toEqual([]);
      await acts.end(runId);
      // A step of another type is not an invoke, so it has no invoker.
      if (asked.body?.['step'] !== undefined) return;
      await expect(invoke(asked)).rejects.toMatchObject({ status: 400, code: 'run_ended' });
    },
  );

  it('a body that names no invoker is refused with 412', async () => {
    const { invoke } = await invoker();
    await expect(invoke({ body: { workflowRunId: 7 } })).rejects.toMatchObject({ status: 412 });
  });

  it('a valid invoke starts its run', async () => {
    const { child, invoke } = await invoker();
    expect(await invoke()).toMatchObject([{ workflowRunId: child }]);
  });
});
