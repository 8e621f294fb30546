import { beforeEach, describe, expect, it } from 'vitest';
import type { Account } from '../../../lambdas/account/account.ts';
import { itAtEachDeath } from '../../support/faults.ts';
import { requestOf, type Fixture } from '../../support/fixture.ts';
import { useFixture } from '../../support/useFixture.ts';

/** Tests endpoints that answer 410 in a URL group that asks for their removal. */

let fixture: Fixture;
let lambdas: Awaited<ReturnType<typeof importLambdas>>;
async function importLambdas() {
  const [endpoints, groups, trail] = await Promise.all([
    import('../../../lambdas/urlGroup/endpoints.ts'),
    import('../../../lambdas/urlGroup/rows.ts'),
    import('../../../lambdas/audit/store/entries.ts'),
  ]);
  return { ...endpoints, ...groups, ...trail };
}
useFixture(async (opened) => {
  fixture = opened;
  lambdas = await importLambdas();
});
beforeEach(async () => {
  await fixture.drain();
});

async function accountWith(id: string): Promise<Account> {
  const account = { ...fixture.account, id };
  await fixture.saveAccount(account, undefined);
  await fixture.readUsage(account);
  return account;
}

const add = (account: Account, name: string, url: string) =>
  lambdas.addEndpoints(account, {
    name,
    body: Buffer.from(JSON.stringify({ endpoints: [{ url }] })),
    prefix: 'Svc',
    host: 'api.example.com',
  });
const urlsOf = async (account: Account, name: string): Promise<readonly string[]> =>
  (await lambdas.loadUrlGroup(account.id, name))?.endpoints.map(({ url }) => url) ?? [];

async function open(id: string) {
  const account = await accountWith(id);
  const [gone, well] = [410, 200].map((status) =>
    fixture.receiver.inbox((_delivery, response) => response.writeHead(status).end()),
  ) as [ReturnType<Fixture['receiver']['inbox']>, ReturnType<Fixture['receiver']['inbox']>];
  await add(account, 'group', gone.url);
  await add(account, 'group', well.url);
  const publish = () =>
    fixture.publishRequest(account, requestOf('group', { gone: 'remove', timeout: '20s' }));
  return { account, gone, well, publish };
}

async function removalsOf({ id }: Account): Promise<number> {
  let counted = 0;
  for await (const { actor, count } of lambdas.listEntries(id, { behind: undefined }))
    if (actor === 'service') counted += count;
  return counted;
}

describe('an endpoint that answers 410', () => {
  itAtEachDeath('is removed, with an entry in the audit trail, whenever its worker dies', async (fate) => {
    const { account, well, publish } = await open(fate.name);
    await publish();
    await fixture.doJobs(fate);
    expect(await urlsOf(account, 'group')).toEqual([well.url]);
    expect(await removalsOf(account)).toBeGreaterThan(0);
  });

  it('stays if it was added again after the answer', async () => {
    const { account, gone, well, publish } = await open('added-again');
    await publish();
    const jobs = await fixture.drain();
    for (const job of jobs) await fixture.perform(job, { isAgain: false });
    expect(await urlsOf(account, 'group')).toEqual([well.url]);
    await add(account, 'group', gone.url);
    for (const job of jobs) await fixture.perform(job, { isAgain: true });
    expect([...(await urlsOf(account, 'group'))].sort()).toEqual([gone.url, well.url].sort());
  });

  it('costs one read for each message that finds it removed', async () => {
    const { account, publish } = await open('many');
    await publish();
    await publish();
    await fixture.doJobs();
    expect(await removalsOf(account)).toBe(1);
  });
});
