import { describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { makeAccount } from '../support/accounts.ts';
import { api, ok } from '../support/api.ts';
import { checkAnswer } from '../support/contract.ts';
import { refusalOf } from '../support/publish.ts';
import { expectRefusal } from '../support/refusals.ts';

const page = z.object({
  results: z.array(z.looseObject({ kind: z.string(), name: z.string(), link: z.string() })),
  isWhole: z.boolean(),
});

async function find(token: string, text: string) {
  const answer = await api('GET', `/v2/search?q=${encodeURIComponent(text)}`, { token });
  expect(answer.status).toBe(200);
  checkAnswer('GET /v2/search', answer);
  return page.parse(answer.json);
}
const namesIn = ({ results }: z.infer<typeof page>) => results.map(({ kind, name }) => `${kind} ${name}`);

async function make() {
  const account = await makeAccount();
  const { token } = account;
  const endpoints = [{ url: 'https://acme.example.com/hooks' }];
  const later = { 'Svc-Delay': '1d' };
  await ok(api('POST', '/v2/queues', { token, body: { queueName: 'acme-mail' } }));
  await ok(api('POST', '/v2/topics/my-acme/endpoints', { token, body: { endpoints } }));
  const schedule = { 'Svc-Cron': '0 0 1 1 *', 'Svc-Schedule-Id': 'Acme.nightly' };
  await ok(api('POST', '/v2/schedules/https://example.com', { token, headers: schedule }));
  const item = { destination: 'https://acme.example.com/x', body: 'x' };
  const headers = {
    ...later,
    'Svc-Label': '東京 acme',
    'Svc-Flow-Control-Key': 'acme-7',
    'Svc-Flow-Control-Value': 'parallelism=1',
  };
  await ok(api('POST', '/v2/batch', { token, body: [{ ...item, headers }] }));
  await ok(api('POST', '/v2/trigger/https://flows.example.com/acme/orders', { token, headers: later }));
  return account;
}

describe('the search', () => {
  it('finds things of each kind by a part of their name, with one request', async () => {
    const { token, read_only_token: readOnly } = await make();
    const found = await find(token, 'ACME');
    expect(namesIn(found).toSorted()).toEqual([
      'flowControlKey acme-7',
      'host acme.example.com',
      'label 東京 acme',
      'queue acme-mail',
      'run https://flows.example.com/acme/orders',
      'schedule Acme.nightly',
      'urlGroup my-acme',
    ]);
    expect(found.isWhole).toBe(true);
    // Those that begin with the text come first.
    const begins = found.results.map(({ name }) => name.toLowerCase().startsWith('acme'));
    expect(begins).toEqual(begins.toSorted((one, other) => Number(other) - Number(one)));
    // Each link is one that the same token may follow.
    for (const { link } of found.results)
      expect((await api('GET', link, { token: readOnly })).status).toBe(200);
    expect(await find(readOnly, 'acme')).toEqual(found);
    expect(namesIn(await find(token, '東京'))).toEqual(['label 東京 acme']);
    const [run] = (await find(token, 'wfr_')).results;
    expect(run).toMatchObject({ kind: 'run', name: run?.['workflowRunId'] });
    expect((await find(token, 'nothing has this')).results).toEqual([]);
  });

  it('finds nothing of another account, and nothing that was deleted', async () => {
    const { token } = await make();
    const other = await makeAccount();
    expect(await find(other.token, 'acme')).toEqual({ results: [], isWhole: true });
    await ok(api('DELETE', '/v2/queues/acme-mail', { token }));
    await ok(api('DELETE', '/v2/schedules/Acme.nightly', { token }));
    await ok(api('DELETE', '/v2/topics/my-acme', { token }));
    const kinds = (await find(token, 'acme')).results.map(({ kind }) => kind);
    expect(kinds).not.toEqual(expect.arrayContaining(['queue']));
    expect(kinds.toSorted()).toEqual(['flowControlKey', 'host', 'label', 'run']);
  });

  it('shows at most ten of a kind, and says that there are more', async () => {
    const { token } = await makeAccount();
    const names = Array.from({ length: 11 }, (_, index) => `many-${index}`);
    await Promise.all(
      names.map((queueName) => ok(api('POST', '/v2/queues', { token, body: { queueName } }))),
    );
    const found = await find(token, 'many');
    expect([found.results.length, found.isWhole]).toEqual([10, false]);
  });

  it('is refused with a token that only publishes, and without a text', async () => {
    const { token } = await makeAccount();
    const body = { name: 'shop', scope: 'publish' };
    const made = z
      .object({ token: z.string() })
      .parse(await ok(api('POST', '/v2/tokens', { token, body }), 201));
    const refused = await api('GET', '/v2/search?q=a', { token: made.token });
    expect([refused.status, refusalOf(refused).code]).toEqual([403, 'token_scope_exceeded']);
    for (const query of ['', '?q=', '?q=%20', `?q=${'x'.repeat(201)}`])
      await expectRefusal(api('GET', `/v2/search${query}`, { token }), 400, /^q is /);
    await expectRefusal(api('GET', '/v2/search?query=a', { token }), 400, /"query" is not a parameter/);
  });
});
