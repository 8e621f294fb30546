/** CloudFormation repeats requests, sends them late, and deletes things that do not exist. */
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import * as z from 'zod/mini';
import { useStandIns } from '../support/useStandIns.ts';

const standIns = useStandIns();

const importLambdas = async () => ({
  handler: (await import('../../lambdas/handlers/provision.ts')).handler,
  ...(await import('../../lambdas/management/accounts.ts')),
  ...(await import('../../lambdas/account/authenticate.ts')),
  ...(await import('../../lambdas/account/signingKeys.ts')),
  ...(await import('../../lambdas/schedule/shownSchedules.ts')),
  ...(await import('../../lambdas/urlGroup/urlGroups.ts')),
});
let lambdas: Awaited<ReturnType<typeof importLambdas>>;
beforeAll(async () => {
  lambdas = await importLambdas();
});

const answerShape = z.object({
  Status: z.enum(['SUCCESS', 'FAILED']),
  Reason: z.optional(z.string()),
  PhysicalResourceId: z.string(),
  StackId: z.string(),
  RequestId: z.string(),
  LogicalResourceId: z.string(),
});

/** Like CloudFormation’s bucket, refuses a content type, because the URL’s signature has none. */
const answers: { readonly text: string; readonly contentType: string | undefined }[] = [];
let refusals = 0;
const server = createServer((request, response) => {
  let text = '';
  request.setEncoding('utf8').on('data', (part: string) => (text += part));
  request.on('end', () => {
    refusals -= 1;
    response.statusCode = refusals >= 0 ? 503 : 200;
    if (refusals < 0) answers.push({ text, contentType: request.headers['content-type'] });
    response.end();
  });
});
beforeAll(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)));
afterAll(() => server.close());

type Request = 'Create' | 'Update' | 'Delete';

async function ask(
  RequestType: Request,
  input: unknown,
  more: { readonly before?: unknown; readonly physicalId?: string; readonly requestId?: string } = {},
) {
  const { port } = server.address() as AddressInfo;
  const request = {
    RequestType,
    ResponseURL: `http://127.0.0.1:${port}/answer?signature=secret`,
    StackId: 'the stack',
    RequestId: more.requestId ?? randomUUID(),
    LogicalResourceId: 'Resource',
    ResourceProperties: { ServiceToken: 'arn', Input: JSON.stringify(input) },
    ...(more.physicalId !== undefined && { PhysicalResourceId: more.physicalId }),
    ...(RequestType === 'Update' && {
      OldResourceProperties: { Input: JSON.stringify(more.before ?? input) },
    }),
  };
  await lambdas.handler(request);
  const last = answers.at(-1);
  expect(last?.contentType).toBeUndefined();
  const answer = answerShape.parse(JSON.parse(last?.text ?? ''));
  expect(answer).toMatchObject({
    StackId: request.StackId,
    RequestId: request.RequestId,
    LogicalResourceId: request.LogicalResourceId,
  });
  return answer;
}

const credentialsShape = z.object({
  QSTASH_URL: z.string(),
  QSTASH_TOKEN: z.string(),
  QSTASH_READ_ONLY_TOKEN: z.string(),
  QSTASH_CURRENT_SIGNING_KEY: z.string(),
  QSTASH_NEXT_SIGNING_KEY: z.string(),
});

function newAccount(fields: Readonly<Record<string, unknown>> = { type: 'paid' }) {
  const id = randomUUID();
  const secret = `arn:secret:${id}`;
  standIns().secretValues.set(secret, '');
  const input = { kind: 'account', id, fields, url: 'https://queue.example.com', secret };
  const credentials = () => credentialsShape.parse(JSON.parse(standIns().secretValues.get(secret) ?? ''));
  return { id, input, credentials };
}

describe('an account of an app', () => {
  it('is created once, however often CloudFormation asks, and its credentials are only in its secret', async () => {
    const { id, input, credentials } = newAccount({ type: 'paid', max_retries: 7 });
    const requestId = randomUUID();
    const first = await ask('Create', input, { requestId });
    const made = credentials();
    expect(first).toMatchObject({ Status: 'SUCCESS', PhysicalResourceId: id });
    expect(await ask('Create', input, { requestId })).toEqual(first);
    expect(credentials()).toEqual(made);

    expect(await lambdas.getAccount(id)).toMatchObject({ active: true, type: 'paid', max_retries: 7 });
    const { account, access } = await lambdas.authenticate(made.QSTASH_TOKEN);
    expect({ id: account.id, access }).toEqual({ id, access: 'write' });
    expect(await lambdas.authenticate(made.QSTASH_READ_ONLY_TOKEN)).toMatchObject({ access: 'read' });
    expect(await lambdas.getSigningKeys(account)).toEqual({
      current: made.QSTASH_CURRENT_SIGNING_KEY,
      next: made.QSTASH_NEXT_SIGNING_KEY,
    });
    for (const { text } of answers)
      for (const value of Object.values(made).slice(1)) expect(text).not.toContain(value);
  });

  it('is changed, and fields that are no longer given return to the plan’s values', async () => {
    const { id, input } = newAccount({ type: 'paid', max_retries: 7, max_topics: 3 });
    await ask('Create', input);
    const after = { ...input, fields: { type: 'paid', max_topics: 4 } };
    expect(await ask('Update', after, { before: input, physicalId: id })).toMatchObject({
      Status: 'SUCCESS',
      PhysicalResourceId: id,
    });
    expect(await lambdas.getAccount(id)).toMatchObject({ max_retries: 5, max_topics: 4 });
  });

  it('is suspended when the app removes it, and has its token again when it is added back', async () => {
    const { id, input, credentials } = newAccount();
    await ask('Create', input);
    const { QSTASH_TOKEN: token } = credentials();
    expect(await ask('Delete', input, { physicalId: id })).toMatchObject({ Status: 'SUCCESS' });
    expect(await lambdas.getAccount(id)).toMatchObject({ active: false, state: 'passive' });
    await ask('Create', input);
    expect(await lambdas.getAccount(id)).toMatchObject({ active: true, state: 'active' });
    expect(credentials().QSTASH_TOKEN).toBe(token);
  });

  it('is replaced by one with another name, and the old one is suspended', async () => {
    const [one, other] = [newAccount(), newAccount()];
    await ask('Create', one.input);
    const replaced = await ask('Update', other.input, { before: one.input, physicalId: one.id });
    expect(replaced.PhysicalResourceId).toBe(other.id);
    await ask('Delete', one.input, { physicalId: one.id });
    expect(await lambdas.getAccount(one.id)).toMatchObject({ active: false });
    expect(await lambdas.getAccount(other.id)).toMatchObject({ active: true });
  });

  it('is refused with the service’s message, after which its deletion finds nothing', async () => {
    const { input } = newAccount({ max_retries: -1 });
    const refused = await ask('Create', input);
    expect(refused.Status).toBe('FAILED');
    expect(refused.Reason).toMatch(/max_retries is -1; allowed is a whole number/);
    const deleted = await ask('Delete', input, { physicalId: refused.PhysicalResourceId });
    expect(deleted.Status).toBe('SUCCESS');
  });

  it('is suspended if it was only partly created', async () => {
    const { id, input } = newAccount();
    standIns().secretValues.delete(input.secret);
    const failed = await ask('Create', input);
    expect(failed).toMatchObject({ Status: 'FAILED', PhysicalResourceId: id });
    await ask('Delete', input, { physicalId: failed.PhysicalResourceId });
    expect(await lambdas.getAccount(id)).toMatchObject({ active: false });
  });

  it('is refused under the name of a deleted one', async () => {
    const { id, input } = newAccount();
    await ask('Create', input);
    await lambdas.deleteAccount(id);
    const refused = await ask('Create', input);
    expect(refused.Status).toBe('FAILED');
    expect(refused.Reason).toContain('was deleted');
    expect(await ask('Delete', input, { physicalId: id })).toMatchObject({ Status: 'SUCCESS' });
  });
});

describe('a schedule of an app', () => {
  const scheduleOf = (accountId: string, more: object = {}) => ({
    kind: 'schedule',
    accountId,
    id: 'daily',
    destination: 'https://example.com/daily',
    headers: [
      ['svc-cron', '0 9 * * *'],
      ['svc-retries', '2'],
      ['svc-forward-x-tenant', 'a'],
    ],
    body: '{"a":1}',
    ...more,
  });
  async function accountOf() {
    const { id, input, credentials } = newAccount();
    await ask('Create', input);
    return (await lambdas.authenticate(credentials().QSTASH_TOKEN)).account ?? id;
  }

  it('is created, replaced and deleted with it, and repetitions change nothing', async () => {
    const account = await accountOf();
    const input = scheduleOf(account.id);
    const made = await ask('Create', input);
    expect(made).toMatchObject({ Status: 'SUCCESS', PhysicalResourceId: `${account.id}/daily` });
    await ask('Create', input);
    expect(await lambdas.getSchedule(account, 'daily')).toMatchObject({
      cron: '0 9 * * *',
      destination: 'https://example.com/daily',
      retries: 2,
      body: '{"a":1}',
    });
    const changed = scheduleOf(account.id, { headers: [['svc-cron', '0 10 * * *']] });
    await ask('Update', changed, { before: input, physicalId: made.PhysicalResourceId });
    expect(await lambdas.getSchedule(account, 'daily')).toMatchObject({ cron: '0 10 * * *' });
    for (const _ of [1, 2]) {
      const deleted = await ask('Delete', changed, { physicalId: made.PhysicalResourceId });
      expect(deleted.Status).toBe('SUCCESS');
    }
    await expect(lambdas.getSchedule(account, 'daily')).rejects.toMatchObject({ status: 404 });
  });

  it('is refused with the service’s message', async () => {
    const { id } = await accountOf();
    const refused = await ask('Create', scheduleOf(id, { headers: [['svc-cron', 'daily']] }));
    expect(refused.Status).toBe('FAILED');
    expect(refused.Reason).toContain('Svc-Cron');
    expect(await ask('Create', scheduleOf(randomUUID()))).toMatchObject({ Status: 'FAILED' });
    expect(await ask('Delete', scheduleOf(randomUUID()))).toMatchObject({ Status: 'SUCCESS' });
  });

  it('has a URL group with exactly the wanted endpoints', async () => {
    const account = await accountOf();
    const group = (...endpoints: readonly object[]) => ({
      kind: 'urlGroup',
      accountId: account.id,
      name: 'orders',
      endpoints,
    });
    const one = { url: 'https://example.com/one', name: 'one' };
    const two = { url: 'https://example.com/two' };
    const three = { url: 'https://example.com/three', name: 'one' };
    const before = group(one, two);
    const made = await ask('Create', before);
    expect(made).toMatchObject({ Status: 'SUCCESS', PhysicalResourceId: `${account.id}/orders` });
    await ask('Update', group(three), { before, physicalId: made.PhysicalResourceId });
    expect(await lambdas.getGroup(account, 'orders', 'Svc')).toMatchObject({ endpoints: [three] });
    for (const _ of [1, 2]) await ask('Delete', group(three), { physicalId: made.PhysicalResourceId });
    await expect(lambdas.getGroup(account, 'orders', 'Svc')).rejects.toMatchObject({ status: 404 });
  });
});

describe('a permission that AWS does not know yet', () => {
  it('is awaited, but other failures are not', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout'] });
    const { onceAllowed } = await import('../../lambdas/provision/onceAllowed.ts');
    const denied = Object.assign(new Error('not yet'), { name: 'AccessDeniedException' });
    let calls = 0;
    const act = (error: Error) => async () => {
      calls += 1;
      if (calls < 4) await Promise.reject(error);
      return 'done';
    };
    const waiting = onceAllowed(act(denied));
    await vi.advanceTimersByTimeAsync(10_000);
    expect(await waiting).toBe('done');
    expect(calls).toBe(4);
    calls = 0;
    await expect(onceAllowed(act(new Error('other')))).rejects.toThrow('other');
    expect(calls).toBe(1);
  });
});

describe('the answer', () => {
  it('is sent again if it is not accepted', async () => {
    const { input } = newAccount();
    refusals = 2;
    expect(await ask('Create', input)).toMatchObject({ Status: 'SUCCESS' });
  });

  it('is also given to an unreadable request', async () => {
    const { Status, Reason } = await ask('Create', { kind: 'unknown' });
    expect(Status).toBe('FAILED');
    expect(Reason).toMatch(/^The service failed. \$?ZodError: /);
  });
});
