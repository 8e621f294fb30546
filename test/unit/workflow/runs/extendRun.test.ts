import { GetItemCommand, QueryCommand } from '@aws-sdk/client-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import { describe, expect, it } from 'vitest';
import { imported } from '../../../support/imported.ts';
import { acts, fixture, runFixture, useRuns } from '../../../support/useRuns.ts';
import * as z from 'zod/mini';
import { dayMs } from '../../../../lambdas/shared/clock.ts';
import { itAtEachDeath } from '../../../support/faults.ts';
import { resultOf } from '../../../support/runFixture.ts';

/** Everything that a long run needs is kept: its records, bodies, row in the list, and the invoking run. */

useRuns();
const lambdas = imported(async () => ({
  ...(await import('../../../../lambdas/workflow/runs/changeRun.ts')),
  ...(await import('../../../../lambdas/message/bodies.ts')),
  ...(await import('../../../../lambdas/workflow/rules/entry.ts')),
}));

const large = JSON.stringify('x'.repeat(80_000));
const year = 365 * dayMs;

const expiring = z.object({ expiresAt: z.number() });
/** Returns when the rows of a run’s journal expire, in days from now. */
async function expiriesOf(runId: string): Promise<readonly number[]> {
  const { Items = [] } = await fixture.dynamodb.send(
    new QueryCommand({
      TableName: fixture.settings.workflowsTable,
      KeyConditionExpression: '#owner = :owner',
      ExpressionAttributeNames: { '#owner': 'owner' },
      ExpressionAttributeValues: { ':owner': { S: `run#${fixture.account.id}#${runId}` } },
      ConsistentRead: true,
    }),
  );
  return Items.map((item) => (expiring.parse(unmarshall(item)).expiresAt * 1_000 - Date.now()) / dayMs);
}

/** Returns the days for which a run’s bodies are kept in the bucket. */
const bodyDaysOf = async (runId: string): Promise<readonly number[]> =>
  (await acts.records(runId)).flatMap((record) =>
    lambdas
      .bodiesOf(record)
      .flatMap(({ body }) => (body.at === 'bucket' ? [Number(body.key.split('d/')[0])] : [])),
  );

async function readBodies(runId: string): Promise<void> {
  for (const record of await acts.records(runId)) {
    for (const { messageId, body } of lambdas.bodiesOf(record)) await lambdas.loadBody(messageId, body);
  }
}

const sleepOf = (stepId: number) => resultOf(stepId, undefined, { stepType: 'SleepFor', sleepFor: '365d' });

describe('a run that sleeps for a year', () => {
  async function begin(runId: string): Promise<void> {
    await runFixture.start(runId, { payload: large });
    await runFixture.append(runId, {
      kind: 'event',
      at: Date.now(),
      eventId: 'early',
      messageId: `msg_${runId}`,
      body: await lambdas.storeBody(
        { accountId: fixture.account.id, messageId: `msg_${runId}`, expiresAt: Date.now() + dayMs },
        Buffer.from(large),
        Date.now(),
      ),
    });
    await runFixture.submit(runId, [resultOf(1, large)]);
  }

  it('keeps all its records and bodies, and later ones, too', async () => {
    await begin('wfr_year');
    await runFixture.submit('wfr_year', [sleepOf(2)], { delay: '365d' });
    await runFixture.submit('wfr_year', [resultOf(3, large)]);
    expect(Math.min(...(await expiriesOf('wfr_year')))).toBeGreaterThan(365);
    expect(Math.min(...(await bodyDaysOf('wfr_year')))).toBeGreaterThan(365);
    expect(await bodyDaysOf('wfr_year')).toHaveLength(4);
    await readBodies('wfr_year');
    expect((await listedExpiry('wfr_year')) - Date.now()).toBeGreaterThan(year);
  });

  itAtEachDeath('keeps them though a process dies at any of its AWS calls', async (fate) => {
    const runId = `wfr_year_${fate.name}`;
    await begin(runId);
    await acts.twice(fate, () => runFixture.submit(runId, [sleepOf(2)], { delay: '365d' }));
    expect(Math.min(...(await expiriesOf(runId)))).toBeGreaterThan(365);
    expect(Math.min(...(await bodyDaysOf(runId)))).toBeGreaterThan(365);
    await readBodies(runId);
  });

  it('is not shortened by a process that needs it for less time', async () => {
    await begin('wfr_two');
    const before = await runFixture.snapshotOf('wfr_two');
    const key = runFixture.keyOf('wfr_two');
    await lambdas.extendRun(key, before, Date.now() + year);
    await lambdas.extendRun(key, before, before.keptUntil + dayMs);
    expect(Math.min(...(await expiriesOf('wfr_two')))).toBeGreaterThan(365);
    expect(Math.min(...(await bodyDaysOf('wfr_two')))).toBeGreaterThan(365);
  });
});

async function listedExpiry(runId: string): Promise<number> {
  const { createdAt } = await runFixture.snapshotOf(runId);
  for (let shard = 0; shard < 8; shard += 1) {
    const { Item } = await fixture.dynamodb.send(
      new GetItemCommand({
        TableName: fixture.settings.workflowsTable,
        Key: {
          owner: { S: `runs#${fixture.account.id}#${shard}` },
          id: { S: `${String(createdAt).padStart(15, '0')}#${runId}` },
        },
      }),
    );
    if (Item !== undefined) return expiring.parse(unmarshall(Item)).expiresAt * 1_000;
  }
  throw new Error(`The run ${runId} is not in the list.`);
}

describe('a run that waits for another one', () => {
  it('is kept as long as the invoked run, however deep they nest', async () => {
    const { createdAt } = await runFixture.start('wfr_a');
    const b = await acts.invoke({ runId: 'wfr_a', createdAt }, 1, 'wfr_b');
    await acts.invoke({ runId: 'wfr_b', createdAt: b.createdAt }, 1, 'wfr_c');
    await runFixture.submit('wfr_c', [resultOf(1)]);
    await runFixture.submit('wfr_c', [sleepOf(2)], { delay: '365d' });
    for (const runId of ['wfr_a', 'wfr_b', 'wfr_c']) {
      expect(Math.min(...(await expiriesOf(runId)))).toBeGreaterThan(365);
      expect((await runFixture.snapshotOf(runId)).keptUntil).toBeGreaterThan(Date.now() + year);
    }
    // It continues as before, because the record that keeps it is not a step.
    await acts.end('wfr_c', { body: '1' });
    await acts.end('wfr_b', { body: '2' });
    expect(await acts.kinds('wfr_a')).toEqual(['start', 'invoke', 'kept', 'steps']);
  });
});

describe('a message of a run that waits in a lane', () => {
  it('keeps its run, active or ended', async () => {
    for (const runId of ['wfr_lane', 'wfr_over']) {
      await runFixture.start(runId);
      if (runId === 'wfr_over') await acts.end(runId, { cancel: true });
      const { createdAt, startSeq } = await runFixture.snapshotOf(runId);
      const part = { role: 'list', runId, createdAt, startSeq } as const;
      await lambdas.extendRunFor(fixture.account.id, part, Date.now() + year);
      expect(Math.min(...(await expiriesOf(runId)))).toBeGreaterThan(365);
    }
  });
});
