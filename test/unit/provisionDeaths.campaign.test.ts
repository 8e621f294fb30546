/**
 * Kills the function at each of its AWS calls. Lambda repeats the request, because CloudFormation has no answer. The requested
 * thing then exists once.
 */
import { createHash, randomUUID } from 'node:crypto';
import { describe, expect } from 'vitest';
import type { Event } from '../../lambdas/provision/event.ts';
import { itAtEachDeath, type Fate } from '../support/faults.ts';
import type { Fixture } from '../support/fixture.ts';
import { useFixture } from '../support/useFixture.ts';

const importServices = async () => {
  const [provision, accounts, authenticate, shown, rows, groups] = await Promise.all([
    import('../../lambdas/provision/provision.ts'),
    import('../../lambdas/management/accounts.ts'),
    import('../../lambdas/account/authenticate.ts'),
    import('../../lambdas/schedule/shownSchedules.ts'),
    import('../../lambdas/schedule/rows.ts'),
    import('../../lambdas/urlGroup/urlGroups.ts'),
  ]);
  return { ...accounts, ...authenticate, ...shown, ...groups, provision: provision.provision, rows };
};

let fixture: Fixture;
let services: Awaited<ReturnType<typeof importServices>>;
useFixture(async (opened) => {
  fixture = opened;
  services = await importServices();
});

const eventOf = (RequestType: Event['RequestType'], input: unknown, before = input): Event => ({
  RequestType,
  ResponseURL: 'https://example.com/',
  StackId: 'stack',
  RequestId: randomUUID(),
  LogicalResourceId: 'Resource',
  ResourceProperties: { Input: JSON.stringify(input) },
  ...(RequestType === 'Update' && { OldResourceProperties: { Input: JSON.stringify(before) } }),
});

const ask = (...request: Parameters<typeof eventOf>) => services.provision(eventOf(...request));

function askUntilDone(fate: Fate, ...request: Parameters<typeof eventOf>): Promise<void> {
  const event = eventOf(...request);
  return fixture.again(fate, () => services.provision(event));
}

function accountOf({ name }: Fate, fields: object = { type: 'paid', max_retries: 7 }) {
  const hex = createHash('sha256').update(name).digest('hex');
  const id = `${hex.slice(0, 8)}-0000-8000-8000-${hex.slice(8, 20)}`;
  const secret = `arn:secret:${id}`;
  if (!fixture.standIns.secretValues.has(secret)) fixture.standIns.secretValues.set(secret, '');
  return { kind: 'account', id, fields, url: 'https://queue.example.com', secret };
}

function tokenIn(secret: string): string {
  const [, token = ''] =
    /"QSTASH_TOKEN":"([^"]+)"/.exec(fixture.standIns.secretValues.get(secret) ?? '') ?? [];
  return token;
}

const scheduleOf = (cron: string) => ({
  kind: 'schedule',
  accountId: '',
  id: 'daily',
  destination: 'https://example.com/daily',
  headers: [['svc-cron', cron]],
  body: '{}',
});

describe('an account of an app', () => {
  itAtEachDeath('is made, whenever its function dies', async (fate) => {
    const input = accountOf(fate);
    await askUntilDone(fate, 'Create', input);
    expect(await services.getAccount(input.id)).toMatchObject({ active: true, max_retries: 7 });
    const { account } = await services.authenticate(tokenIn(input.secret));
    expect(account.id).toBe(input.id);
  });

  itAtEachDeath('is changed, whenever its function dies', async (fate) => {
    const [before, after] = [accountOf(fate), accountOf(fate, { type: 'paid', max_topics: 4 })];
    await ask('Create', before);
    await askUntilDone(fate, 'Update', after, before);
    expect(await services.getAccount(after.id)).toMatchObject({ max_retries: 5, max_topics: 4 });
  });

  itAtEachDeath('is suspended, whenever its function dies', async (fate) => {
    const input = accountOf(fate);
    await ask('Create', input);
    await askUntilDone(fate, 'Delete', input);
    expect(await services.getAccount(input.id)).toMatchObject({ active: false });
  });
});

describe('a schedule of an app', () => {
  itAtEachDeath('is made and replaced, whenever its function dies, and fires once', async (fate) => {
    const input = accountOf(fate);
    await ask('Create', input);
    const { account } = await services.authenticate(tokenIn(input.secret));
    const [before, after] = ['0 9 * * *', '0 10 * * *'].map((cron) => ({
      ...scheduleOf(cron),
      accountId: account.id,
    }));
    await ask('Create', before);
    await askUntilDone(fate, 'Update', after, before);
    expect(await services.getSchedule(account, 'daily')).toMatchObject({ cron: '0 10 * * *' });
    expect(await services.rows.listSchedules(account.id)).toHaveLength(1);
  });

  itAtEachDeath('is deleted, whenever its function dies', async (fate) => {
    const input = accountOf(fate);
    await ask('Create', input);
    const { account } = await services.authenticate(tokenIn(input.secret));
    const schedule = { ...scheduleOf('0 9 * * *'), accountId: account.id };
    await ask('Create', schedule);
    await askUntilDone(fate, 'Delete', schedule);
    expect(await services.rows.listSchedules(account.id)).toEqual([]);
  });
});

describe('a URL group of an app', () => {
  itAtEachDeath('has the wanted endpoints and no others, whenever its function dies', async (fate) => {
    const input = accountOf(fate);
    await ask('Create', input);
    const { account } = await services.authenticate(tokenIn(input.secret));
    const groupOf = (...paths: readonly string[]) => ({
      kind: 'urlGroup',
      accountId: account.id,
      name: 'orders',
      endpoints: paths.map((path) => ({ url: `https://example.com/${path}` })),
    });
    const [before, after] = [groupOf('one', 'two'), groupOf('two', 'three')];
    await ask('Create', before);
    await askUntilDone(fate, 'Update', after, before);
    const { endpoints } = await services.getGroup(account, 'orders', 'Svc');
    expect(new Set(endpoints.map(({ url }) => url))).toEqual(
      new Set(['https://example.com/two', 'https://example.com/three']),
    );
  });
});
