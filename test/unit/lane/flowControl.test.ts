import { describe, expect, it } from 'vitest';
import { newLane, type Lane } from '../../../lambdas/lane/lane.ts';
import { useFixture } from '../../support/useFixture.ts';
import type { Fixture } from '../../support/fixture.ts';

let fixture: Fixture;
let lambdas: Awaited<ReturnType<typeof importLambdas>>;

const importLambdas = async () => ({
  ...(await import('../../../lambdas/lane/flowControl.ts')),
  ...(await import('../../../lambdas/lane/store/laneRows.ts')),
  ...(await import('../../../lambdas/account/secrets.ts')),
  ...(await import('../../../lambdas/table/cursor.ts')),
});

useFixture(async (opened) => {
  fixture = opened;
  lambdas = await importLambdas();
});

const accountOf = (id: string) => ({ ...fixture.account, id });

async function makeKeys(accountId: string, names: readonly string[], fields: Partial<Lane> = {}) {
  await Promise.all(
    names.map((name) =>
      lambdas.saveLane({
        ...newLane({ accountId, kind: 'key', name }, Date.now(), { parallelism: 2 }),
        ...fields,
      }),
    ),
  );
}

const numbered = (what: string, count: number): readonly string[] =>
  Array.from({ length: count }, (_, index) => `${what}-${String(index).padStart(3, '0')}`);

describe('a list of flow-control keys', () => {
  it('reads 100 keys per call, and only those that match the search', async () => {
    const account = accountOf('lists');
    await makeKeys('lists', [...numbered('many', 110), ...numbered('few', 3)]);
    const namesOf = async (search?: string): Promise<readonly string[]> => {
      fixture.reset();
      const { records } = await lambdas.listFlowControl(account, search, undefined);
      return records.map(({ flowControlKey }) => flowControlKey);
    };
    expect(await namesOf()).toEqual([...numbered('few', 3), ...numbered('many', 110)]);
    expect([
      fixture.callsOf('QueryCommand'),
      fixture.callsOf('BatchGetItemCommand'),
      fixture.calls(),
    ]).toEqual([1, 2, 3]);
    expect(await namesOf('ew-')).toEqual(numbered('few', 3));
    expect(fixture.calls()).toBe(2);
    expect(await namesOf('none')).toEqual([]);
    expect(fixture.calls()).toBe(1);
  });

  it('continues after a cursor, with the same search only', async () => {
    const account = accountOf('pages');
    await makeKeys('pages', [...numbered('many', 5), 'other', 'zebra']);
    const { current } = await lambdas.masterSecret();
    const cursorOf = (search: string) =>
      lambdas.sealCursor(current, `pages/flowControl/${search}`, { time: 0, id: 'many-002' });
    const behind = async (search: string | undefined, cursor: string): Promise<readonly string[]> =>
      (await lambdas.listFlowControl(account, search, cursor)).records.map(
        ({ flowControlKey }) => flowControlKey,
      );
    expect(await behind(undefined, cursorOf(''))).toEqual(['many-003', 'many-004', 'other', 'zebra']);
    expect(await behind('many', cursorOf('many'))).toEqual(['many-003', 'many-004']);
    await expect(behind(undefined, cursorOf('many'))).rejects.toMatchObject({ status: 400 });
    await expect(behind('many', cursorOf(''))).rejects.toMatchObject({ status: 400 });
  });
});

describe('a change of a flow-control key', () => {
  it('takes one read and one write, and creates no key', async () => {
    const account = accountOf('changes');
    await makeKeys('changes', ['there']);
    fixture.reset();
    await lambdas.pinFlowControl(account, 'there', { parallelism: '3', rate: '4', period: '1m' });
    expect([fixture.callsOf('PutItemCommand'), fixture.calls()]).toEqual([1, 2]);
    expect(await lambdas.getFlowControl(account, 'there')).toMatchObject({
      parallelismMax: 3,
      rateMax: 4,
      ratePeriod: 60,
    });
    await expect(lambdas.pauseFlowControl(account, 'missing')).rejects.toMatchObject({ status: 404 });
    expect((await lambdas.listFlowControl(account, undefined, undefined)).records).toHaveLength(1);
  });

  it('prevents a paused or pinned key from expiring', async () => {
    const account = accountOf('forgets');
    await makeKeys('forgets', ['used', 'paused', 'pinned']);
    await lambdas.pauseFlowControl(account, 'paused');
    await lambdas.pinFlowControl(account, 'pinned', { rate: '4' });
    const { ScanCommand } = await import('@aws-sdk/client-dynamodb');
    const { Items = [] } = await fixture.dynamodb.send(
      new ScanCommand({
        TableName: fixture.settings.lanesTable,
        FilterExpression: '#owner = :owner AND attribute_exists(expiresAt)',
        ExpressionAttributeNames: { '#owner': 'owner' },
        ExpressionAttributeValues: { ':owner': { S: 'forgets#key' } },
      }),
    );
    expect(Items.map((item) => item['name']?.S)).toEqual(['used']);
  });
});
