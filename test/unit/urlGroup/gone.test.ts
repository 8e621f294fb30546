import { beforeEach, describe, expect, it } from 'vitest';
import { imported } from '../../support/imported.ts';
import type { Account } from '../../../lambdas/account/account.ts';
import { itAtEachDeath } from '../../support/faults.ts';
import { requestOf, type Fixture } from '../../support/fixture.ts';
import { useFixture } from '../../support/useFixture.ts';

/** Tests endpoints that answer 410 in a URL group that asks for their removal. */

let fixture: Fixture;
useFixture((opened) => {
  fixture = opened;
});
const lambdas = imported(async () => ({
  ...(await import('../../../lambdas/urlGroup/endpoints.ts')),
  ...(await import('../../../lambdas/urlGroup/rows.ts')),
  ...(await import('../../../lambdas/audit/store/entries.ts')),
}));
beforeEach(async () => {
  await fixture.drain();
});

async function open(id: string) {
  const account = { ...fixture.account, id };
  await fixture.saveAccount(account, undefined);
  await fixture.readUsage(account);
  const gone = fixture.receiver.inbox((_delivery, response) => response.writeHead(410).end());
  const well = fixture.receiver.inbox();
  const add = (url: string) =>
    lambdas.addEndpoints(account, {
      name: 'group',
      body: Buffer.from(JSON.stringify({ endpoints: [{ url }] })),
      prefix: 'Svc',
      host: 'api.example.com',
    });
  await add(gone.url);
  await add(well.url);
  const publish = () =>
    fixture.publishRequest(account, requestOf('group', { gone: 'remove', timeout: '20s' }));
  const urls = async () => (await lambdas.loadUrlGroup(id, 'group'))?.endpoints.map(({ url }) => url) ?? [];
  return { account, gone, well, publish, add, urls };
}

async function removalsOf({ id }: Account): Promise<number> {
  let counted = 0;
  for await (const { actor, count } of lambdas.listEntries(id, { behind: undefined }))
    if (actor === 'service') counted += count;
  return counted;
}

describe('an endpoint that answers 410', () => {
  itAtEachDeath('is removed, with an entry in the audit trail, whenever its worker dies', async (fate) => {
    const { account, well, publish, urls } = await open(fate.name);
    await publish();
    await fixture.doJobs(fate);
    expect(await urls()).toEqual([well.url]);
    expect(await removalsOf(account)).toBeGreaterThan(0);
  });

  it('stays if it was added again after the answer', async () => {
    const { gone, well, publish, add, urls } = await open('added-again');
    await publish();
    const jobs = await fixture.drain();
    for (const job of jobs) await fixture.perform(job, { isAgain: false });
    expect(await urls()).toEqual([well.url]);
    await add(gone.url);
    for (const job of jobs) await fixture.perform(job, { isAgain: true });
    expect([...(await urls())].sort()).toEqual([gone.url, well.url].sort());
  });
});
