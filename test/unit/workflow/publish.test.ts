import { describe, expect, it } from 'vitest';
import { acts, fixture, runFixture, useRuns } from '../../support/useRuns.ts';
import { answered } from '../../support/answered.ts';
import { resultOf } from '../../support/runFixture.ts';
import { endpoint } from '../../support/startSettings.ts';

/** The client takes a request’s status 400 to mean that its run has ended, so nothing else gets it. */

let batch: (items: unknown) => Promise<unknown>;
useRuns(async () => {
  const service = await import('../../../lambdas/publish/batch.ts');
  batch = (items) => {
    const body = Buffer.from(typeof items === 'string' ? items : JSON.stringify(items));
    return answered(fixture.account, { config: new Map(), body, isBatch: true }, () =>
      service.batch(fixture.account, { body, prefix: 'Svc', callerIp: '192.0.2.7', host: 'api.example.com' }),
    );
  };
});

const headersOf = (runId: string) => ({
  'upstash-workflow-init': 'false',
  'upstash-workflow-runid': runId,
  'upstash-workflow-url': endpoint,
});
const itemOf = (runId: string, more: object = {}) => ({
  destination: endpoint,
  headers: headersOf(runId),
  body: JSON.stringify(resultOf(1)),
  ...more,
});

type Malformed = [what: string, items: (runId: string) => unknown];

const malformed: readonly Malformed[] = [
  ['no destination', (runId) => [itemOf(runId, { destination: undefined })]],
  ['a body that is no step', (runId) => [itemOf(runId, { body: 7 })]],
  [
    'a header that cannot be sent',
    (runId) => [itemOf(runId, { headers: { ...headersOf(runId), 'upstash-forward-x': 'a\nb' } })],
  ],
  [
    'too many headers',
    (runId) => [itemOf(runId, { headers: { ...headersOf(runId), x: 'x'.repeat(11_000) } })],
  ],
  ['another item that is malformed', (runId) => [itemOf(runId), {}]],
  ['an item of no workflow', (runId) => [itemOf(runId), { destination: endpoint }]],
  ['too many items', (runId) => Array.from({ length: 10_001 }, () => itemOf(runId))],
  ['a body that was cut on its way', (runId) => JSON.stringify([itemOf(runId)]).slice(0, -20)],
  ['a destination that is none', (runId) => [itemOf(runId, { destination: 'ftp://a' })]],
  ['a queue', (runId) => [itemOf(runId, { queue: 'orders' })]],
  [
    'a message that is the service’s to make',
    (runId) => [
      itemOf(runId, { headers: { ...headersOf(runId), 'upstash-workflow-calltype': 'fromCallback' } }),
    ],
  ],
];

describe('a request of an endpoint that has', () => {
  it.each(malformed)(
    '%s is refused as a whole: with 412, or with 400 once its run has ended',
    async (_, items) => {
      const runId = `wfr_${Math.random()}`;
      await runFixture.start(runId);
      await expect(batch(items(runId))).rejects.toMatchObject({ status: 412 });
      expect((await acts.records(runId)).filter(({ kind }) => kind === 'steps')).toEqual([]);
      await acts.end(runId);
      await expect(batch(items(runId))).rejects.toMatchObject({ status: 400 });
    },
  );
});

describe('a batch', () => {
  it('that only starts runs is refused with the status of the malformed part', async () => {
    const start = { destination: endpoint, headers: { 'upstash-workflow-init': 'true' } };
    await expect(batch([start, {}])).rejects.toMatchObject({ status: 400 });
    await expect(batch([start, { ...start, destination: 'http://10.0.0.1/' }])).rejects.toMatchObject({
      status: 403,
    });
    expect(await fixture.drain()).toEqual([]);
  });

  it('without runs is still answered item by item', async () => {
    const inbox = fixture.receiver.inbox();
    expect(await batch([{ destination: inbox.url }, {}])).toEqual([
      { messageId: expect.any(String) as string },
      { error: expect.stringContaining('destination') as string, code: 'field_invalid', status: 400 },
    ]);
  });
});
