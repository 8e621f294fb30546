import { describe, expect, it } from 'vitest';
import { fixture, waitFixture, useWaits } from '../../support/useRuns.ts';
import { setClockAhead } from '../../support/clockAhead.ts';
import { attemptsIn, endpoint } from '../../support/waitFixture.ts';

useWaits();

const hourMs = 3_600_000;

async function placeOf(runId: string): Promise<number> {
  const [wait] = (await waitFixture.snapshotOf(runId)).waits;
  if (wait === undefined) throw new Error('The run does not wait.');
  return wait.seq;
}

const refused = (status: number, text = ''): unknown =>
  expect.objectContaining({ status, message: expect.stringContaining(text) as unknown });

describe('a wait', () => {
  it('ends with its event, whose result is delivered once with the headers of the wait', async () => {
    const runId = await waitFixture.start();
    await fixture.drain();
    const timeoutUrl = `${endpoint}/late`;
    await waitFixture.wait(runId, 'paid', { timeoutUrl, headers: [['upstash-forward-x-tenant', 'acme']] });
    expect(await waitFixture.rowsOf('paid')).toEqual([runId]);
    expect(attemptsIn(await fixture.drain())).toEqual([]);

    const [item, ...others] = await waitFixture.notifyRun(
      fixture.account,
      { runId, eventId: 'paid' },
      Buffer.from('{"n":1}'),
    );
    const [result, ...more] = await waitFixture.resultsOf(runId);
    expect([others, more]).toEqual([[], []]);
    expect(result).toMatchObject({ stepId: 1, eventId: 'paid', event: '{"n":1}', isTimeout: false });
    expect(result?.entry).toMatchObject({
      url: endpoint,
      forwarded: [
        ['upstash-workflow-sdk-version', '1'],
        ['x-tenant', 'acme'],
      ],
      step: { kind: 'result', stepId: 1, stepName: 'wait 1', stepType: 'Wait', waitEventId: 'paid' },
    });
    const { createdAt } = await waitFixture.snapshotOf(runId);
    expect(item).toMatchObject({
      messageId: result?.entry.messageId,
      error: '',
      workflowRunId: runId,
      workflowCreatedAt: createdAt,
      waiter: { url: endpoint, timeoutUrl, headers: { 'Upstash-Workflow-Runid': [runId] } },
    });
    expect(attemptsIn(await fixture.drain())).toEqual([result?.entry.messageId]);
    expect(await waitFixture.rowsOf('paid')).toEqual([]);
  });

  it('ends at its deadline and not before, if its timeout is to be reported', async () => {
    const runId = await waitFixture.start();
    await fixture.drain();
    const timeoutUrl = `${endpoint}/late`;
    const timeoutHeaders = { 'Upstash-Forward-X-Late': ['yes'] };
    await waitFixture.wait(runId, 'never', { timeout: '1.5h', timeoutUrl, timeoutHeaders });
    const seq = await placeOf(runId);
    setClockAhead(1.5 * hourMs - 60_000);
    await waitFixture.check(runId, seq);
    expect(await waitFixture.resultsOf(runId)).toEqual([]);
    setClockAhead(1.5 * hourMs);
    await waitFixture.check(runId, seq);
    const [result, ...more] = await waitFixture.resultsOf(runId);
    expect(more).toEqual([]);
    expect(result).toMatchObject({ event: undefined, isTimeout: true });
    expect(result?.entry.url).toBe(timeoutUrl);
    expect(result?.entry.forwarded).toContainEqual(['x-late', 'yes']);
    expect(attemptsIn(await fixture.drain())).toEqual([result?.entry.messageId]);
    expect(await waitFixture.rowsOf('never')).toEqual([]);
    // Scheduler and SQS may deliver the job again.
    await waitFixture.check(runId, seq);
    expect(await waitFixture.resultsOf(runId)).toHaveLength(1);
    expect(attemptsIn(await fixture.drain())).toEqual([]);
  });

  it('sends an early job again', async () => {
    const runId = await waitFixture.start();
    await waitFixture.wait(runId, 'early');
    const seq = await placeOf(runId);
    const dueAt = Date.now() + 60_000;
    fixture.reset();
    await waitFixture.checkWait({ kind: 'waitTimeout', ...waitFixture.keyOf(runId), seq, dueAt });
    expect(fixture.operations()).toEqual({ SendMessageCommand: 1 });
  });

  it('is recorded once, and a repeated one gets the first answer', async () => {
    const runId = await waitFixture.start();
    const first = await waitFixture.wait(runId, 'twice');
    const second = await waitFixture.wait(runId, 'twice');
    expect(second).toEqual({ ...first, deduplicated: true });
    expect((await waitFixture.recordsOf(runId)).map(({ record }) => record.kind)).toEqual(['start', 'wait']);
    expect(await waitFixture.rowsOf('twice')).toEqual([runId]);
  });

  it('that has ended does not start again', async () => {
    const runId = await waitFixture.start();
    const first = await waitFixture.wait(runId, 'over');
    await waitFixture.notifyRun(fixture.account, { runId, eventId: 'over' }, Buffer.from('x'));
    expect(await waitFixture.wait(runId, 'over')).toEqual({ ...first, deduplicated: true });
    expect(await waitFixture.rowsOf('over')).toEqual([]);
    expect(await waitFixture.resultsOf(runId)).toHaveLength(1);
  });

  it('of a client that sends settings with each message keeps its settings', async () => {
    const runId = await waitFixture.start({ features: ['LazyFetch'] });
    const headers = [['upstash-retries', '1']] as const;
    await waitFixture.wait(runId, 'own settings', { headers });
    await waitFixture.notifyRun(fixture.account, { runId, eventId: 'own settings' }, Buffer.from('x'));
    const [result] = await waitFixture.resultsOf(runId);
    expect(result?.entry.settings?.maxRetries).toBe(1);
  });

  it.each([
    ['with the id of an event that is too long', 'e'.repeat(257), {}, '256'],
    ['for longer than the account may delay', 'e', { timeout: '366d' }, 'max_delay'],
    ['with a URL that is refused', 'e', { url: 'http://169.254.169.254/' }, 'public'],
    ['with a timeoutUrl of the service', 'e', { timeoutUrl: 'https://api.example.com/' }, 'itself'],
    ['with too large headers', 'e', { timeoutHeaders: { a: ['b'.repeat(20_000)] } }, 'timeoutHeaders'],
    ['out of its place', 'e', { stepId: 2 }, 'stepId'],
    ['of a step that waits for nothing', 'e', { stepType: 'Run' }, 'stepType'],
  ])('is refused with 412 %s', async (_name, eventId, options, text) => {
    const runId = await waitFixture.start();
    await expect(waitFixture.wait(runId, eventId, options)).rejects.toThrow(refused(412, text));
    expect((await waitFixture.snapshotOf(runId)).waits).toEqual([]);
  });

  it('is refused with 400, valid or not, if its run has ended or is unknown', async () => {
    const runId = await waitFixture.start();
    await waitFixture.endRun(fixture.account, { runId }, { state: 'RUN_CANCELED' });
    await expect(waitFixture.wait(runId, 'e')).rejects.toThrow(refused(400));
    await expect(waitFixture.wait(runId, 'e'.repeat(257))).rejects.toThrow(refused(400));
    await expect(waitFixture.wait('wfr_unknown', 'e')).rejects.toThrow(refused(400));
  });
});

describe('the list of waiters', () => {
  it('has the waiting runs, oldest first, and no others', async () => {
    const waiting = async (): Promise<string> => {
      const runId = await waitFixture.start();
      await waitFixture.wait(runId, 'listed');
      return runId;
    };
    const [first, second, ended, last] = [await waiting(), await waiting(), await waiting(), await waiting()];
    await waitFixture.notifyRun(fixture.account, { runId: second, eventId: 'listed' }, Buffer.from('x'));
    await waitFixture.endRun(fixture.account, { runId: ended }, { state: 'RUN_CANCELED' });
    const listed = await waitFixture.listWaiters(fixture.account, 'listed');
    expect(listed.map(({ headers }) => headers['Upstash-Workflow-Runid'])).toEqual([[first], [last]]);
    expect(listed[0]?.timeoutHeaders).toMatchObject({ 'Upstash-Workflow-Runid': [first] });
    const inAnHour = (Date.now() + hourMs) / 1_000;
    expect(Math.abs((listed[0]?.deadline ?? 0) - inAnHour)).toBeLessThan(100);
    expect(JSON.stringify(listed)).not.toContain('Bearer');
    expect(await waitFixture.listWaiters(fixture.account, 'nobody')).toEqual([]);
  });
});

describe('an event that is sent before its wait', () => {
  it('is kept and ends a later wait, in the order of the events', async () => {
    const runId = await waitFixture.start();
    const notify = (text: string, eventId = 'soon') =>
      waitFixture.notifyRun(fixture.account, { runId, eventId }, Buffer.from(text));
    const [stored] = await notify('one');
    expect(stored).toEqual({
      messageId: expect.stringMatching(/^msg_/) as unknown,
      error: '',
      workflowRunId: runId,
      workflowCreatedAt: (await waitFixture.snapshotOf(runId)).createdAt,
    });
    await notify('another', 'other');
    await notify('x'.repeat(50_000));
    await fixture.drain();

    const first = await waitFixture.wait(runId, 'soon');
    const second = await waitFixture.wait(runId, 'soon', { stepId: 2 });
    expect(await waitFixture.wait(runId, 'soon')).toEqual({ ...first, deduplicated: true });
    const third = await waitFixture.wait(runId, 'soon', { stepId: 3 });
    const results = await waitFixture.resultsOf(runId);
    expect(results.map(({ event }) => event)).toEqual(['one', 'x'.repeat(50_000)]);
    expect(results.map(({ entry }) => entry.messageId)).toEqual([first.messageId, second.messageId]);
    expect(new Set(attemptsIn(await fixture.drain()))).toEqual(new Set([first.messageId, second.messageId]));
    // The third wait gets the next event.
    await notify('three');
    expect((await waitFixture.resultsOf(runId)).at(-1)).toMatchObject({ stepId: 3, event: 'three' });
    expect(third.messageId).not.toBe(second.messageId);
    expect((await waitFixture.snapshotOf(runId)).events).toHaveLength(1);
  });

  it('is refused with 412 if the run already keeps a hundred, and with 404 if it has ended', async () => {
    const runId = await waitFixture.start();
    const notify = () => waitFixture.notifyRun(fixture.account, { runId, eventId: 'many' }, Buffer.from('x'));
    for (let count = 0; count < 100; count += 1) await notify();
    await expect(notify()).rejects.toThrow(refused(412, '100'));
    await waitFixture.wait(runId, 'many');
    await notify();
    await waitFixture.endRun(fixture.account, { runId }, { state: 'RUN_CANCELED' });
    await expect(notify()).rejects.toThrow(refused(404));
    const unknown = { runId: 'wfr_unknown', eventId: 'many' };
    await expect(waitFixture.notifyRun(fixture.account, unknown, Buffer.from('x'))).rejects.toThrow(
      refused(404),
    );
    const noId = { runId: 'x'.repeat(5_000), eventId: 'many' };
    await expect(waitFixture.notifyRun(fixture.account, noId, Buffer.from('x'))).rejects.toThrow(
      refused(404),
    );
  });
});

describe('a notification of all waiting runs', () => {
  it('says with a code why a full run is not woken, and wakes the others', async () => {
    const full = await waitFixture.start();
    await waitFixture.fill(full, 1_000);
    await waitFixture.wait(full, 'large', { stepId: 2 });
    const other = await waitFixture.start();
    await waitFixture.wait(other, 'large');
    await fixture.drain();

    const told = await waitFixture.notify(fixture.account, 'large', Buffer.alloc(1_000, 'x'));
    const outcomes = told.map(({ workflowRunId, error, code }) => ({ workflowRunId, error, code }));
    const notWoken = {
      workflowRunId: full,
      error: expect.stringMatching(/^The steps of the run would have/) as string,
      code: 'submission_refused',
    };
    expect(outcomes).toEqual([notWoken, { workflowRunId: other, error: '', code: undefined }]);
    expect((await waitFixture.snapshotOf(full)).waits).toHaveLength(1);
    expect(await waitFixture.resultsOf(other)).toHaveLength(1);
  });
});
