import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import * as z from 'zod/mini';
import { makeAccount, type AccountRecord } from '../support/accounts.ts';
import { api, ok } from '../support/api.ts';
import { eventually } from '../support/eventually.ts';
import { startOtherApi, type OtherApi, type Reply } from '../support/migration.ts';
import { service } from '../support/publish.ts';
import { MigrationError } from '../../migrate/migrationError.ts';
import { parseOptions } from '../../migrate/options.ts';
import { migrate } from '../../migrate/run.ts';

// The command is the same for all services behind the APIs.
const here = describe.runIf(service.target === 'local');

/** Does not fire while the tests run. */
const rarely = '0 0 29 2 *';
const secret = 'a-secret-of-the-destination';

let source: AccountRecord;
let target: AccountRecord;
beforeEach(async () => {
  if (service.target !== 'local') return;
  [source, target] = await Promise.all([makeAccount(), makeAccount()]);
});

interface Ran {
  readonly code: number;
  readonly output: string;
}

/** Runs the command in this process: `outgrown.campaign.test.ts` runs it as a command. By default both sides are here. */
async function run(flags: readonly string[], sides: Readonly<Record<string, string>> = {}): Promise<Ran> {
  const environment = {
    ...{ QSTASH_URL: service.url, QSTASH_TOKEN: source.token },
    ...{ SVC_URL: service.url, SVC_TOKEN: target.token },
    ...sides,
  };
  const lines: string[] = [];
  const code = await migrate(parseOptions(flags, environment), (line) => lines.push(line)).catch(
    (error: unknown) => {
      if (!(error instanceof MigrationError)) throw error;
      lines.push(error.message);
      return 1;
    },
  );
  const output = lines.map((line) => `${line}\n`).join('');
  for (const text of [environment.QSTASH_TOKEN, environment.SVC_TOKEN, secret])
    expect(output).not.toContain(text);
  return { code, output };
}

const as = (
  { token }: AccountRecord,
  method: string,
  path: string,
  init: Omit<NonNullable<Parameters<typeof api>[2]>, 'token'> = {},
) => ok(api(method, path, { ...init, token }));

const recordShape = z.looseObject({});
const read = async (account: AccountRecord, path: string) =>
  recordShape.parse(await as(account, 'GET', path));

async function schedule(
  account: AccountRecord,
  id: string,
  headers: Readonly<Record<string, string>> = {},
  body?: unknown,
): Promise<void> {
  await as(
    account,
    'POST',
    `/v2/schedules/${encodeURIComponent('https://example.com/a?b=1&svc-retries=7')}`,
    {
      headers: { 'Svc-Cron': rarely, 'Svc-Schedule-Id': id, ...headers },
      ...(body !== undefined && { body }),
    },
  );
}

/** Removes the fields that differ between equal schedules: time and origin of their creation. */
const comparable = async (account: AccountRecord, path: string) => {
  const { createdAt: _c, updatedAt: _u, callerIp: _i, callerIP: _I, ...rest } = await read(account, path);
  return rest;
};

async function fill(): Promise<void> {
  await as(source, 'POST', '/v2/queues', { body: { queueName: 'mail', parallelism: 3 } });
  await as(source, 'POST', '/v2/queues', { body: { queueName: 'held', parallelism: 1 } });
  await as(source, 'POST', '/v2/queues/held/pause');
  await as(source, 'POST', '/v2/topics/orders/endpoints', {
    body: {
      endpoints: [
        { url: 'https://example.com/mail', name: 'mail' },
        { url: 'https://example.com/stock?x=1' },
      ],
    },
  });
  await as(source, 'PATCH', '/v2/topics/orders', {
    body: { headers: { 'Svc-Header-Forward': 'true', 'Svc-Retries': '2', 'Svc-Forward-X-Key': secret } },
  });
  await schedule(
    source,
    'all',
    {
      'Svc-Cron': 'CRON_TZ=Europe/Berlin 0 9 1 1 *',
      'Content-Type': 'text/plain',
      'Svc-Method': 'PUT',
      'Svc-Timeout': '20s',
      'Svc-Retries': '2',
      'Svc-Delay': '1m30s',
      'Svc-Forward-Authorization': secret,
      'Svc-Callback': 'https://example.com/callback',
      'Svc-Failure-Callback': 'https://example.com/failure?a=1',
      'Svc-Label': 'nightly,reports',
      'Svc-Retry-Delay': 'min(60000, pow(2, retried) * 1000)',
      'Svc-Queue-Name': 'mail',
      'Svc-Circuit': 'on',
      'Svc-Flow-Control-Key': 'tenant',
      'Svc-Flow-Control-Value': 'parallelism=2, rate=5, period=1m',
    },
    { kind: 'daily' },
  );
  await schedule(source, 'plain');
  await schedule(source, 'long', {}, 'ü'.repeat(20_000));
  await schedule(source, 'stopped');
  await as(source, 'POST', '/v2/schedules/stopped/pause');
  await as(source, 'POST', '/v2/schedules/orders', {
    headers: { 'Svc-Cron': '@yearly', 'Svc-Schedule-Id': 'to-group' },
  });
}

const everything = [
  ...['/v2/queues/mail', '/v2/queues/held', '/v2/topics/orders'],
  ...['all', 'plain', 'long', 'stopped', 'to-group'].map((id) => `/v2/schedules/${id}`),
];

here('svc-queue migrate', () => {
  it('prints its plan and changes nothing, copies everything, and finds nothing to do then', async () => {
    await fill();
    const plan = await run([]);
    expect(plan.code).toBe(3);
    expect(plan.output).toContain('A dry run: nothing is changed.');
    for (const line of [
      /to create +mail +parallelism 3\n/,
      /to create +held +parallelism 1, paused\n/,
      /to create +orders +2 endpoints, default headers\n/,
      /to create +all +CRON_TZ=Europe\/Berlin 0 9 1 1 \*, without the settings of its callbacks, which no API shows\n/,
      /to create +stopped +0 0 29 2 \*, paused\n/,
      /8 to create\./,
    ])
      expect(plan.output).toMatch(line);
    for (const list of ['queues', 'topics', 'schedules']) {
      expect(await as(target, 'GET', `/v2/${list}`)).toEqual([]);
    }
    const ran = await run(['--apply']);
    expect([ran.code, ran.output]).toEqual([0, expect.stringContaining('8 created.')]);
    for (const path of everything) {
      expect(await comparable(target, path)).toEqual(await comparable(source, path));
    }
    const before = await Promise.all(everything.map((path) => read(target, path)));
    const again = await run(['--apply', '--overwrite']);
    expect([again.code, again.output]).toEqual([0, expect.stringContaining('8 same.')]);
    expect(await Promise.all(everything.map((path) => read(target, path)))).toEqual(before);
  });

  it('reports differences by the names of their settings, and replaces them only if told to', async () => {
    await fill();
    await run(['--apply']);
    await as(target, 'POST', '/v2/queues', { body: { queueName: 'mail', parallelism: 9 } });
    await as(target, 'POST', '/v2/queues/held/resume');
    await as(target, 'POST', '/v2/topics/orders/endpoints', {
      body: {
        endpoints: [{ url: 'https://example.com/extra' }, { url: 'https://example.com/other', name: 'mail' }],
      },
    });
    await as(target, 'PATCH', '/v2/topics/orders', { body: { headers: { 'Svc-Retries': '1' } } });
    await schedule(target, 'all', { 'Svc-Label': 'nightly' }, { kind: 'weekly' });
    const changed = await Promise.all(everything.map((path) => read(target, path)));

    const ran = await run(['--apply']);
    expect([ran.code, ran.output]).toEqual([3, expect.stringContaining('4 same, 4 differs.')]);
    expect(ran.output).toMatch(/differs +mail +in parallelism; --overwrite replaces it\n/);
    expect(ran.output).toMatch(/differs +held +in paused;/);
    expect(ran.output).toMatch(/differs +orders +in endpoints, headers;/);
    expect(ran.output).toMatch(
      /differs +all +in cron, method, headers, body, retries, delay, timeout, callback, failure callback, retry delay, labels, flow control, queue, circuit;/,
    );
    expect(await Promise.all(everything.map((path) => read(target, path)))).toEqual(changed);

    const replaced = await run(['--apply', '--overwrite']);
    expect([replaced.code, replaced.output]).toEqual([0, expect.stringContaining('4 replaced, 4 same.')]);
    for (const path of everything) {
      expect(await comparable(target, path)).toEqual(await comparable(source, path));
    }
  });

  it('copies a flow-control key’s manual settings once the key exists', async () => {
    const keyed = { headers: { 'Svc-Flow-Control-Key': 'crm', 'Svc-Flow-Control-Value': 'parallelism=9' } };
    const publish = (account: AccountRecord, delay: string) =>
      as(account, 'POST', '/v2/publish/https://example.com/', {
        headers: { ...keyed.headers, 'Svc-Delay': delay },
      });
    await publish(source, '0s');
    await eventually(
      () => api('GET', '/v2/flowControl/crm', { token: source.token }),
      ({ status }) => status === 200,
    );
    expect((await run([])).output).toContain('There is nothing to do.');
    await as(source, 'POST', '/v2/flowControl/crm/pin?parallelism=4&rate=10&period=60');
    await as(source, 'POST', '/v2/flowControl/crm/pause');
    const early = await run(['--apply']);
    expect([early.code, early.output]).toEqual([
      3,
      expect.stringContaining('it is not in the target until its first message'),
    ]);
    await publish(target, '0s');
    await eventually(
      () => api('GET', '/v2/flowControl/crm', { token: target.token }),
      ({ status }) => status === 200,
    );
    const ran = await run(['--apply']);
    expect([ran.code, ran.output]).toEqual([
      0,
      expect.stringMatching(/created +crm +parallelism, rate, paused\n/),
    ]);
    expect(await read(target, '/v2/flowControl/crm')).toMatchObject({
      ...{ parallelismMax: 4, rateMax: 10, ratePeriod: 60 },
      ...{ isPinnedParallelism: true, isPinnedRate: true, isPaused: true },
    });
    await as(source, 'POST', '/v2/flowControl/crm/resume');
    await as(source, 'POST', '/v2/flowControl/crm/unpin?rate=true');
    const replaced = await run(['--apply', '--overwrite']);
    expect([replaced.code, replaced.output]).toEqual([
      0,
      expect.stringMatching(/replaced +crm +rate, paused\n/),
    ]);
    expect(await read(target, '/v2/flowControl/crm')).toMatchObject({ isPinnedRate: false, isPaused: false });
  });

  it('follows lists to their last page', async () => {
    const names = Array.from({ length: 6 }, (_, index) => `queue-${index}`);
    for (const queueName of names) await as(source, 'POST', '/v2/queues', { body: { queueName } });
    const pages: string[] = [];
    const paged = await startOtherApi((asked) => {
      if (!asked.startsWith('GET /v2/queues')) return {};
      pages.push(asked);
      const at = Number(/cursor=(\d+)/.exec(asked)?.[1] ?? 0);
      const more: Record<string, string> = at + 2 < names.length ? { 'Svc-Cursor': String(at + 2) } : {};
      return { headers: more, body: names.slice(at, at + 2).map((name) => ({ name, parallelism: 1 })) };
    });
    onTestFinished(() => paged.close());
    const ran = await run([], { SVC_URL: paged.url });
    expect([ran.code, ran.output]).toEqual([0, expect.stringContaining('6 same.')]);
    expect(pages).toHaveLength(3);
  });
});

here('schedules that are switched over', () => {
  const paused = async (account: AccountRecord, id: string) =>
    (await read(account, `/v2/schedules/${id}`))['isPaused'];
  const states = async (id: string) => [await paused(source, id), await paused(target, id)];

  it('wait in the target until each fires there and no longer in the source', async () => {
    await schedule(source, 'active');
    await schedule(source, 'stopped');
    await as(source, 'POST', '/v2/schedules/stopped/pause');
    await schedule(source, 'often', { 'Svc-Cron': '* * * * *', 'Svc-Delay': '7d' });
    expect((await run(['--switch'])).output).toMatch(
      /skipped +active +it is not in the target: copy it first/,
    );

    expect((await run(['--apply', '--paused'])).code).toBe(0);
    expect(await states('active')).toEqual([false, true]);
    const waiting = await run(['--apply', '--overwrite']);
    expect([waiting.code, waiting.output]).toEqual([
      0,
      expect.stringMatching(/same +active +paused in the target; --switch lets it fire there/),
    ]);

    const dry = await run(['--switch']);
    expect([dry.code, dry.output]).toEqual([3, expect.stringMatching(/to switch +active +0 0 29 2 \*\n/)]);
    expect(await states('active')).toEqual([false, true]);

    const ran = await run(['--switch', '--apply']);
    expect(ran.code).toBe(3);
    expect(ran.output).toMatch(/switched +active/);
    expect(ran.output).toMatch(/same +stopped +paused in the source/);
    expect(ran.output).toMatch(/skipped +often +it fires too often to be switched between two fires/);
    expect(await states('active')).toEqual([true, false]);
    expect(await states('stopped')).toEqual([true, true]);
    expect(await states('often')).toEqual([false, true]);

    expect((await run(['--switch', '--apply'])).output).toMatch(/same +active +fires in the target/);
    // A schedule that fires in the target is not paused by another copy.
    await run(['--apply', '--overwrite']);
    expect(await states('active')).toEqual([true, false]);
  });

  it('are switched by the next run if one died after it resumed one there and before it paused it here', async () => {
    await schedule(source, 'active');
    await run(['--apply']);
    expect(await states('active')).toEqual([false, false]);
    expect((await run(['--switch', '--apply'])).code).toBe(0);
    expect(await states('active')).toEqual([true, false]);
  });

  it('are paused by the next run if one died after it began one and before it paused it', async () => {
    await schedule(source, 'active', { 'Svc-Cron': '0 9 * * *' }, 'body');
    await schedule(target, 'active', { 'Svc-Cron': '53 4 15 6 *', 'Upstash-Method': 'POST' }, 'body');
    const ran = await run(['--apply', '--paused']);
    expect([ran.code, ran.output]).toEqual([
      0,
      expect.stringMatching(/created +active +0 9 \* \* \*, paused, begun before/),
    ]);
    expect(await read(target, '/v2/schedules/active')).toMatchObject({ cron: '0 9 * * *', isPaused: true });
  });

  it('that differ are not switched', async () => {
    await schedule(source, 'active', {}, 'one');
    await schedule(target, 'active', {}, 'two');
    const ran = await run(['--switch', '--apply']);
    expect([ran.code, ran.output]).toEqual([3, expect.stringContaining('it differs in the target (body)')]);
    expect(await states('active')).toEqual([false, false]);
  });
});

here('a source', () => {
  let other: OtherApi | undefined;
  const from = async (
    answer: Parameters<typeof startOtherApi>[0],
    ...flags: readonly string[]
  ): Promise<Ran> => {
    other = await startOtherApi(answer);
    const open = other;
    onTestFinished(() => open.close());
    return run(flags, { QSTASH_URL: other.url, QSTASH_TOKEN: 'the-token-of-the-source' });
  };
  const sentence = (ran: Ran): string => {
    expect(ran.code).toBe(1);
    expect(ran.output.trimEnd().split('\n')).toHaveLength(1);
    return ran.output.trimEnd();
  };

  it.each<[how: string, reply: Reply, asked: number, says: string]>([
    [
      'that refuses the token is named, with its sentence',
      { status: 401, body: { error: 'invalid token the-token-of-the-source' } },
      1,
      'refuses the token: 401 (invalid token …).',
    ],
    [
      'that is busy for long is not awaited',
      { status: 429, headers: { 'retry-after': '7200' }, body: { error: 'quota.' } },
      1,
      'answered 429 (quota) to GET /v2/queues, and asks for a wait of 7200 s.',
    ],
    [
      'that fails is asked five times',
      { status: 500, body: 'no JSON' },
      5,
      'answered 500 to GET /v2/queues.',
    ],
  ])('%s', async (_how, reply, asked, says) => {
    const ran = await from(() => reply);
    expect(sentence(ran)).toBe(`The source, ${other?.url}, ${says}`);
    expect(other?.asked).toHaveLength(asked);
  });

  it('that is busy is asked again at the time that it names', async () => {
    const ran = await from((_asked, times) =>
      times === 0 ? { status: 429, headers: { 'retry-after': '1' }, body: { error: 'too many' } } : {},
    );
    expect([ran.code, ran.output]).toEqual([0, expect.stringContaining('There is nothing to do.')]);
    expect(other?.asked.filter((one) => one === 'GET /v2/queues')).toHaveLength(2);
  });

  it('that does not listen is named', async () => {
    const closed = await startOtherApi(() => ({}));
    await closed.close();
    expect(sentence(await run([], { QSTASH_URL: closed.url }))).toMatch(
      /^The source, \S+, does not answer: .*ECONNREFUSED/,
    );
  });

  it.each<[string, Reply]>([
    ['a page', { body: '<html>Welcome</html>' }],
    ['a list of something else', { body: [{ title: 'x' }] }],
  ])('that answers with %s is no API of this kind', async (_, reply) => {
    expect(sentence(await from(() => reply))).toMatch(
      /is not a QStash-compatible API, or another version of it/,
    );
  });

  it('whose list never ends is given up', async () => {
    const ran = await from(() => ({ headers: { 'Upstash-Cursor': 'again' } }));
    expect(sentence(ran)).toContain('repeats the list at /v2/queues for ever');
  });

  it('with fewer and emptier fields than this one is copied', async () => {
    const destination = 'https://example.com/hook';
    const records: Record<string, unknown[]> = {
      'GET /v2/queues': [{ name: 'mail', parallelism: 2, lag: 7 }],
      'GET /v2/topics': [
        {
          name: 'orders',
          createdAt: 1,
          endpoints: [{ url: destination }, { name: 'b', url: `${destination}/b` }],
        },
        { name: 'empty', endpoints: null },
      ],
      'GET /v2/schedules': [
        {
          ...{ scheduleId: 'scd_1', cron: '0 9 * * *', destination, method: 'GET', header: null, body: '' },
          ...{ retries: 0, delay: 0, callback: '', label: 'one', isPaused: false, parallelism: 0, later: {} },
        },
        { scheduleId: 'scd_2', cron: '0 9 * * *', destination, bodyBase64: '/w==', isPaused: true },
        { scheduleId: 'scd_3', cron: '0 9 * * *', destination, body: `REDACTED:${'0a'.repeat(32)}` },
        { scheduleId: 'scd_4', cron: '0 9 * * *', destination: 'http://10.0.0.1/', isPaused: false },
        { scheduleId: 'scd_5', cron: '0 9 * * *', destination, label: 'Zürich', timeout: 7_200 },
      ],
    };
    const ran = await from(
      (asked) =>
        asked.startsWith('GET /v2/flowControl')
          ? { status: 404 }
          : {
              body:
                records[asked] ?? records[asked.replace(/\/scd_\d$/, '')]?.[Number(asked.at(-1)) - 1] ?? [],
            },
      '--apply',
    );
    expect(ran.code).toBe(1);
    expect(ran.output).toMatch(/skipped +empty +it has no endpoints\n/);
    expect(ran.output).toMatch(
      /skipped +scd_3 +the source shows only hashes of what is redacted \(body\): make it by hand\n/,
    );
    expect(ran.output).toMatch(/failed +scd_4 +The target answered 403 \(/);
    expect(ran.output).toMatch(/created +scd_5 +0 9 \* \* \*, but the target has it with another timeout\n/);
    expect(ran.output).toContain('5 created, 2 skipped, 1 failed.');
    expect(await read(target, '/v2/schedules/scd_1')).toMatchObject({
      method: 'GET',
      retries: 0,
      labels: ['one'],
    });
    expect(await read(target, '/v2/schedules/scd_2')).toMatchObject({ bodyBase64: '/w==', isPaused: true });
    expect(await read(target, '/v2/schedules/scd_5')).toMatchObject({ labels: ['Zürich'], timeout: 840 });
    expect((await as(target, 'GET', '/v2/topics')) as unknown[]).toHaveLength(1);
  });
});

here('a target', () => {
  it('that may only be read is named, and the rest is tried', async () => {
    await as(source, 'POST', '/v2/queues', { body: { queueName: 'mail', parallelism: 3 } });
    const ran = await run(['--apply'], { SVC_TOKEN: target.read_only_token });
    expect([ran.code, ran.output]).toEqual([
      1,
      expect.stringMatching(/failed +mail +The target answered 403 \(/),
    ]);
  });

  it('that stops answering ends the run, and the next run continues', async () => {
    for (const queueName of ['a', 'b']) await as(source, 'POST', '/v2/queues', { body: { queueName } });
    let made = 0;
    const other = await startOtherApi((asked) => {
      if (!asked.startsWith('POST')) return {};
      made += 1;
      return made === 1 ? {} : { status: 503 };
    });
    onTestFinished(() => other.close());
    const ran = await run(['--apply'], { SVC_URL: other.url });
    expect(ran.code).toBe(1);
    expect(ran.output).toMatch(/created +a /);
    expect(ran.output).toMatch(/The target, \S+, answered 503 to POST \/v2\/queues\.\n$/);
  });
});
