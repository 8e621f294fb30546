import { describe, expect, it } from 'vitest';
import { imported } from '../../../support/imported.ts';
import { acts, fixture, runFixture, useRuns } from '../../../support/useRuns.ts';
import { HttpError } from '../../../../lambdas/error/httpError.ts';
import type { Job } from '../../../../lambdas/job/job.ts';
import type { Caller } from '../../../../lambdas/account/caller.ts';
import { onlyTo } from '../../../../lambdas/destination/onlyTo.ts';
import { setClockAhead } from '../../../support/clockAhead.ts';
import { configOf } from '../../../support/fixture.ts';
import { itAtEachDeath } from '../../../support/faults.ts';
import { resultOf } from '../../../support/runFixture.ts';
import { callbackTo, endpoint } from '../../../support/startSettings.ts';

/** A separate job fails a permanently refused run once, whichever process dies. */

useRuns();
const lambdas = imported(() => import('../../../../lambdas/workflow/refusedRequests.ts'));

const reason = 'The step has the stepId 7; the next step of the run is 1.';

async function start(runId: string) {
  const told = fixture.receiver.inbox();
  const failureCallback = callbackTo(told.url);
  await runFixture.start(runId, { details: { failureCallback } });
  await fixture.drain();
  return told;
}

async function jobOf(runId: string): Promise<Job> {
  const { startSeq } = await runFixture.snapshotOf(runId);
  const of = { accountId: fixture.account.id, runId, startSeq };
  return { kind: 'runRefused', ...of, code: 'submission_refused', reason };
}

const refuse = (runId: string, error: HttpError, caller: Partial<Caller> = {}): Promise<HttpError> =>
  lambdas.refusalOfRequest(
    { account: fixture.account, access: 'write', ...caller },
    {
      config: configOf({ 'workflow-init': 'false', 'workflow-runid': runId }),
      body: new Uint8Array(),
      isBatch: false,
      host: 'api.example.com',
    },
    error,
  );

/** Returns a caller whose token may only publish to URLs with these prefixes. */
const withScope = (...patterns: readonly string[]): Partial<Caller> => ({
  access: 'publish',
  account: { ...fixture.account, scope: onlyTo('tok_1', patterns) },
});

/** Returns the jobs that fail runs, due a few seconds after the refusal. */
async function refusedJobs(): Promise<readonly Job[]> {
  setClockAhead(60_000);
  return (await fixture.drain()).filter(({ kind }) => kind === 'runRefused');
}

describe('a run whose endpoint was refused', () => {
  itAtEachDeath('fails once, and tells its failure function once, whenever a worker dies', async (fate) => {
    const runId = `wfr_refused_${fate.name}`;
    const told = await start(runId);
    const job = await jobOf(runId);
    await acts.twice(fate, () => fixture.perform(job, { isAgain: true }));
    await fixture.doJobs();
    const ends = (await acts.records(runId)).filter(({ kind }) => kind === 'end');
    expect(ends).toMatchObject([{ state: 'RUN_FAILED', failure: { response: { status: 412 } } }]);
    const [delivery, ...more] = told.deliveries;
    expect(more).toEqual([]);
    const { body } = JSON.parse(String(delivery?.body)) as { body: string };
    const answer: unknown = JSON.parse(Buffer.from(body, 'base64').toString());
    expect(answer).toEqual({ error: 'submission_refused', message: reason });
  });

  it('is not changed if it has ended, or if its id belongs to another run by then', async () => {
    await start('wfr_over');
    const job = await jobOf('wfr_over');
    await acts.end('wfr_over');
    await fixture.perform(job, { isAgain: false });
    await runFixture.start('wfr_over');
    await fixture.perform(job, { isAgain: false });
    expect((await runFixture.snapshotOf('wfr_over')).state).toBe('RUN_STARTED');
  });

  it('continues if the refusal was temporary, or if the token may not fail it', async () => {
    await start('wfr_goes_on');
    const forNow = new HttpError(429, 'rate_limit_reached', 'Later.');
    expect(await refuse('wfr_goes_on', forNow)).toBe(forNow);
    const wrong = (): HttpError => new HttpError(400, 'field_invalid', 'Wrong.');
    expect((await refuse('wfr_goes_on', wrong(), { access: 'read' })).status).toBe(400);
    expect((await refuse('wfr_goes_on', wrong(), withScope('https://elsewhere.example.com/'))).status).toBe(
      400,
    );
    expect(await refusedJobs()).toEqual([]);
    await runFixture.submit('wfr_goes_on', [resultOf(1)]);
  });

  it('is failed by a named token that may publish to its endpoint', async () => {
    await start('wfr_named');
    const error = new HttpError(403, 'token_scope_exceeded', 'The destination is elsewhere.');
    const caller = withScope(endpoint);
    expect(await refuse('wfr_named', error, caller)).toMatchObject({ status: 412 });
    expect(await refusedJobs()).toMatchObject([
      { runId: 'wfr_named', reason: 'The destination is elsewhere.' },
    ]);
  });
});
