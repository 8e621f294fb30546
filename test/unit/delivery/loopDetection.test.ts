import { ScanCommand, type DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import * as z from 'zod/mini';
import type { FunctionName } from '../../../local/lambda/handlers.ts';
import { loadFunction } from '../../../local/lambda/lambda.ts';
import { declareFault } from '../../support/faults.ts';
import { startFront } from '../../support/front.ts';
import { limitForHangsMs } from '../../support/limits.ts';
import { useStandIns } from '../../support/useStandIns.ts';

// Clients wait as long as on AWS: a silent stand-in counts as away instead of slow.
process.env['CLIENT_PATIENCE'] = '1';

/**
 * Each API records the hosts by which it is called, and all regions read them. Each process has separate modules and shares the
 * table.
 */

const standIns = useStandIns();

const home = 'eu-central-1';
const other = 'us-east-1';
const generated = 'b2b2b2b2b2.execute-api.us-east-1.amazonaws.com';
const management = 'c3c3c3c3c3.execute-api.eu-central-1.amazonaws.com';

const later = (minutes: number): void => {
  vi.setSystemTime(Date.now() + minutes * 60_000);
};

const tokens = new Map<string, string>();
beforeAll(async () => {
  const { createAccount } = await import('../../../lambdas/management/accounts.ts');
  for (const region of [home, other]) {
    tokens.set(region, (await createAccount(Buffer.from(JSON.stringify({ type: 'paid', region })))).token);
  }
});
const dayMs = 24 * 60 * 60_000;

beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  // Tomorrow’s noon. No new day begins as minutes pass, whose counts would be written.
  vi.setSystemTime(Math.ceil(Date.now() / dayMs) * dayMs + dayMs / 2);
  vi.resetModules();
  await forget();
});

const accountsTable = 'accounts';
const itemShape = z.object({ id: z.string(), hosts: z.array(z.string()) });

async function forget(): Promise<void> {
  const { remove } = await import('../../../lambdas/aws/writes.ts');
  for (const { id } of await noted()) await remove(accountsTable, { id });
}

async function noted(): Promise<readonly z.infer<typeof itemShape>[]> {
  const [{ dynamodb }, { unmarshall }] = await Promise.all([
    import('../../../lambdas/aws/dynamodb.ts'),
    import('@aws-sdk/util-dynamodb'),
  ]);
  const { Items = [] } = await dynamodb.send(
    new ScanCommand({
      TableName: accountsTable,
      ConsistentRead: true,
      FilterExpression: 'attribute_exists(hosts)',
    }),
  );
  return Items.map((item) => itemShape.parse(unmarshall(item)));
}

interface Request {
  readonly domainName: string;
  readonly method?: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

const answerShape = z.object({ statusCode: z.number(), body: z.string() });
interface Answer {
  readonly status: number;
  readonly body: string;
}

async function startProcess(region: string, functionName: FunctionName) {
  vi.resetModules();
  process.env['AWS_REGION'] = region;
  const { invoke } = await loadFunction(functionName, { region, timeoutMs: 28_000 });
  const { dynamodb } = await import('../../../lambdas/aws/dynamodb.ts');
  process.env['AWS_REGION'] = home;
  const calls = watch(dynamodb);
  const send = async ({ domainName, method = 'GET', path, headers = {}, body }: Request): Promise<Answer> => {
    const returned = answerShape.parse(
      await invoke({
        httpMethod: method,
        path,
        multiValueHeaders: Object.fromEntries(
          Object.entries(headers).map(([name, value]) => [name, [value]]),
        ),
        multiValueQueryStringParameters: null,
        requestContext: { requestId: 'test', domainName, path, identity: { sourceIp: '192.0.2.1' } },
        body: body ?? null,
        isBase64Encoded: false,
      }),
    );
    return { status: returned.statusCode, body: returned.body };
  };
  const authorization = { Authorization: `Bearer ${tokens.get(region) ?? ''}` };
  return {
    ...calls,
    invoke,
    send,
    call: (domainName: string, headers: Readonly<Record<string, string>> = authorization) =>
      send({ domainName, path: '/v2/keys', headers }),
    publish: async (destination: string, headers: Readonly<Record<string, string>> = {}): Promise<number> => {
      const { status } = await send({
        domainName: 'a1a1a1a1a1.execute-api.eu-central-1.amazonaws.com',
        method: 'POST',
        path: `/v2/publish/${destination}`,
        headers: { ...authorization, ...headers },
        body: 'x',
      });
      return status;
    },
  };
}

function watch(dynamodb: DynamoDBClient) {
  const counts = new Map<string, number>();
  let failing:
    | { readonly operation: string; readonly when: 'before' | 'after'; readonly comes: () => void }
    | undefined;
  dynamodb.middlewareStack.add(
    (next, context) => async (args) => {
      const operation = context.commandName?.replace(/Command$/, '') ?? '';
      counts.set(operation, (counts.get(operation) ?? 0) + 1);
      const die = (when: 'before' | 'after'): void => {
        if (failing?.operation !== operation || failing.when !== when) return;
        failing.comes();
        throw new Error('The process is dead.');
      };
      die('before');
      const result = await next(args);
      die('after');
      return result;
    },
    { step: 'initialize', name: 'watch' },
  );
  return {
    countOf: (operation: string): number => counts.get(operation) ?? 0,
    fail: (operation: string | undefined, when: 'before' | 'after' = 'before'): void => {
      failing =
        operation === undefined
          ? undefined
          : { operation, when, comes: declareFault(`a process dies ${when} ${operation}`) };
    },
  };
}

describe('the host of another region’s API', () => {
  it('is refused within ten minutes of its first request, in any spelling', async () => {
    const publisher = await startProcess(home, 'publish');
    expect(await publisher.publish(`https://${generated}/api/v2/publish/x`)).toBe(200);
    expect((await (await startProcess(other, 'keys')).call(generated)).status).toBe(200);
    later(10);
    for (const spelling of [
      generated,
      generated.toUpperCase(),
      `${generated}.`,
      `${generated}:443`,
      'b2b2b2b2b2-vpce-0a1b2c3d.execute-api.us-east-1.vpce.amazonaws.com',
    ]) {
      expect([spelling, await publisher.publish(`https://${spelling}/api/v2/publish/x`)]).toEqual([
        spelling,
        403,
      ]);
    }
    expect(await publisher.publish(`http://${generated}/`)).toBe(403);
    expect(await publisher.publish('https://b2b2b2b2b3.execute-api.us-east-1.amazonaws.com/')).toBe(200);
  });

  it('is refused as a callback, as an endpoint of a URL group, and in a schedule', async () => {
    await (await startProcess(other, 'keys')).call(generated);
    const publisher = await startProcess(home, 'publish');
    expect(await publisher.publish('https://example.com', { 'Svc-Callback': `https://${generated}/` })).toBe(
      403,
    );
    const headers = { Authorization: `Bearer ${tokens.get(home) ?? ''}` };
    const groups = await startProcess(home, 'urlGroups');
    const endpoints = [{ url: `https://${generated}/` }];
    const added = await groups.send({
      domainName: 'queue.example.com',
      method: 'POST',
      path: '/v2/topics/group/endpoints',
      headers,
      body: JSON.stringify({ endpoints }),
    });
    expect(added.status).toBe(403);
    const schedules = await startProcess(home, 'schedules');
    const made = await schedules.send({
      domainName: 'queue.example.com',
      method: 'POST',
      path: `/v2/schedules/https://${generated}/`,
      headers: { ...headers, 'Svc-Cron': '* * * * *' },
    });
    expect(made.status).toBe(403);
    // Nor does a delivery connect to it.
    vi.resetModules();
    const [{ deploymentRules }, { createDeliveryClient }] = await Promise.all([
      import('../../../lambdas/destination/rulesOfDeployment.ts'),
      import('../../../lambdas/delivery/client/deliveryClient.ts'),
    ]);
    const request = { url: `https://${generated}/`, method: 'POST', headers: [] } as const;
    const response = await createDeliveryClient(deploymentRules)({
      ...request,
      body: new Uint8Array(),
      timeoutMs: limitForHangsMs,
      maxResponseBytes: 0,
    });
    expect(response.error).toContain('is this service itself');
  });
});

describe('the host of the management API', () => {
  it('is refused after the first request with the right password, and not before', async () => {
    const { username, password } = standIns().management;
    const api = await startProcess(home, 'accounts');
    const show = (secret: string) =>
      api.send({
        domainName: management,
        path: '/v2/svc/users',
        headers: { Authorization: `Basic ${Buffer.from(`${username}:${secret}`).toString('base64')}` },
      });
    expect((await show('a wrong password')).status).toBe(401);
    expect(await noted()).toEqual([]);
    expect((await show(password)).status).toBe(200);
    expect(await noted()).toEqual([{ id: 'apiHost#eu-central-1#management', hosts: [management] }]);
    const publisher = await startProcess(home, 'publish');
    expect(await publisher.publish(`https://${management}/api/v2/svc/users`)).toBe(403);
  });
});

describe('the host of the publish URL', () => {
  const publishHost = 'd4d4d4d4d4d4d4d4d4d4d4d4d4d4d4d4.lambda-url.us-east-1.on.aws';

  it('is refused at once by the process that is called by it, and everywhere after its first request with a good token', async () => {
    const { invoke } = await startProcess(other, 'publish');
    const publish = async (authorization: string): Promise<number> => {
      const returned = await invoke({
        version: '2.0',
        rawPath: `/v2/publish/https://${publishHost}/v2/batch`,
        rawQueryString: '',
        headers: { authorization },
        requestContext: {
          requestId: 'test',
          domainName: publishHost,
          http: { method: 'POST', sourceIp: '192.0.2.1' },
        },
        isBase64Encoded: false,
      });
      return answerShape.parse(returned).statusCode;
    };
    expect(await publish('Bearer wrong')).toBe(401);
    expect(await noted()).toEqual([]);
    expect(await publish(`Bearer ${tokens.get(other) ?? ''}`)).toBe(403);
    expect(await noted()).toEqual([{ id: 'apiHost#us-east-1#messaging', hosts: [publishHost] }]);
    for (const region of [home, other]) {
      const publisher = await startProcess(region, 'publish');
      expect(await publisher.publish(`https://${publishHost.toUpperCase()}./v2/batch`)).toBe(403);
    }
  });
});

describe('a host by which an API is called', () => {
  it('is recorded once, regardless of other hosts and of the number of processes', async () => {
    const processes = [await startProcess(other, 'keys'), await startProcess(other, 'logs')];
    for (const { call } of processes) for (let made = 0; made < 3; made += 1) await call(generated);
    await processes[0]?.call(`${generated.toUpperCase()}.`);
    later(11);
    for (const { call } of processes) await call(generated);
    expect(await noted()).toEqual([{ id: 'apiHost#us-east-1#messaging', hosts: [generated] }]);
    expect(processes.map(({ countOf }) => countOf('UpdateItem'))).toEqual([1, 0]);
  });

  it('is recorded at its next call if two processes recorded different hosts at once', async () => {
    const [one, two] = [await startProcess(other, 'keys'), await startProcess(other, 'keys')];
    await Promise.all([one.call(generated), two.call('queue.example.com')]);
    later(1);
    await Promise.all([one.call(generated), two.call('queue.example.com')]);
    const [row] = await noted();
    expect(row?.hosts.toSorted()).toEqual([generated, 'queue.example.com']);
  });

  it('is recorded if the first call is a delivery of the deployment itself, which is refused', async () => {
    const api = await startProcess(other, 'keys');
    const { loopMark } = await import('../../../lambdas/delivery/loopDetection.ts');
    const mark = await loopMark({ prefix: 'Svc', url: `https://${generated}/v2/keys` });
    const headers = { Authorization: `Bearer ${tokens.get(other) ?? ''}`, ...Object.fromEntries(mark) };
    expect((await api.call(generated, headers)).status).toBe(403);
    expect((await noted()).flatMap(({ hosts }) => hosts)).toEqual([generated]);
  });

  it('is recorded only with a token, if API Gateway can have set it, and not from a client’s header', async () => {
    const api = await startProcess(other, 'keys');
    expect((await api.call(generated, {})).status).toBe(401);
    expect((await api.call(generated, { Authorization: 'Bearer wrong' })).status).toBe(401);
    for (const host of ['localhost:8080', '127.0.0.1:443', '[::1]', 'app.localhost', 'single', 'a b.c', '']) {
      expect((await api.call(host)).status).toBe(200);
    }
    expect(await noted()).toEqual([]);
    await api.call(generated, {
      Authorization: `Bearer ${tokens.get(other) ?? ''}`,
      Host: 'victim.example.com',
      'X-Forwarded-Host': 'victim.example.com',
      Forwarded: 'host=victim.example.com',
    });
    expect((await noted()).flatMap(({ hosts }) => hosts)).toEqual([generated]);
  });

  it('is one of twenty at most: the oldest are removed, and a process records one a minute', async () => {
    const api = await startProcess(other, 'keys');
    for (let number = 0; number < 22; number += 1) {
      await api.call(`n${number}.example.com`);
      await api.call(`too-soon-${number}.example.com`);
      later(1);
    }
    const [row] = await noted();
    expect(row?.hosts).toEqual(Array.from({ length: 20 }, (_, index) => `n${index + 2}.example.com`));
  });

  it('is recorded by the next process if one dies before the write, and kept if it dies after the write', async () => {
    for (const when of ['before', 'after'] as const) {
      await forget();
      const dying = await startProcess(other, 'keys');
      dying.fail('UpdateItem', when);
      // The request itself still succeeds.
      expect((await dying.call(generated)).status).toBe(200);
      expect(await noted()).toHaveLength(when === 'before' ? 0 : 1);
      const next = await startProcess(other, 'keys');
      expect((await next.call(generated)).status).toBe(200);
      expect(await noted()).toEqual([{ id: 'apiHost#us-east-1#messaging', hosts: [generated] }]);
      expect(next.countOf('UpdateItem')).toBe(when === 'before' ? 1 : 0);
    }
  });

  it('is not recorded if the setting says that the gateway is not trusted', async () => {
    process.env['LEARN_HOSTS'] = 'false';
    const api = await startProcess(other, 'keys');
    delete process.env['LEARN_HOSTS'];
    expect((await api.call(generated)).status).toBe(200);
    expect(await noted()).toEqual([]);
  });
});

describe('hosts that cannot be read', () => {
  it('do not delay a publish, and the known ones apply until they can be read again', async () => {
    const publisher = await startProcess(home, 'publish');
    publisher.fail('BatchGetItem');
    expect(await publisher.publish('https://example.com')).toBe(200);
    publisher.fail(undefined);
    await (await startProcess(other, 'keys')).call(generated);
    later(1);
    expect(await publisher.publish(`https://${generated}/`)).toBe(403);
    publisher.fail('BatchGetItem');
    later(60);
    expect(await publisher.publish(`https://${generated}/`)).toBe(403);
    expect(await publisher.publish('https://example.com')).toBe(200);
  });

  it('because the table is silent are awaited only briefly, once for simultaneous callers', async () => {
    const variable = 'AWS_ENDPOINT_URL_DYNAMODB';
    const front = await startFront(standIns().urls.dynamodb);
    try {
      process.env[variable] = front.url;
      vi.resetModules();
      const { deploymentRules } = await import('../../../lambdas/destination/rulesOfDeployment.ts');
      front.fail('silent', 1);
      const rules = await Promise.all(Array.from({ length: 20 }, () => deploymentRules()));
      expect(rules.map(({ own }) => own.size)).toEqual(rules.map(() => 0));
      // All callers shared one request, and none waited for a second try.
      expect(front.faults()).toBe(1);
    } finally {
      process.env[variable] = standIns().urls.dynamodb;
      await front.close();
    }
  });

  it('are read once in ten minutes, by any publish', async () => {
    const publisher = await startProcess(home, 'publish');
    await Promise.all(Array.from({ length: 10 }, () => publisher.publish('https://example.com')));
    later(9);
    await publisher.publish('https://example.com');
    expect(publisher.countOf('BatchGetItem')).toBe(1);
    later(1);
    await publisher.publish('https://example.com');
    expect(publisher.countOf('BatchGetItem')).toBe(2);
  });
});

describe('a row of hosts', () => {
  it('is not an account: its key is refused, and no list shows it', async () => {
    const api = await startProcess(other, 'keys');
    await api.call(generated);
    const [row] = await noted();
    const token = Buffer.from(JSON.stringify({ UserID: row?.id, Password: 'x' })).toString('base64');
    expect((await api.call(generated, { Authorization: `Bearer ${token}` })).status).toBe(401);
    const { listAccounts } = await import('../../../lambdas/management/accountList.ts');
    const { getAccount, deleteAccount } = await import('../../../lambdas/management/accounts.ts');
    const { accounts } = await listAccounts([]);
    expect(accounts.map(({ token: listed }) => listed).toSorted()).toEqual([...tokens.values()].toSorted());
    await expect(getAccount(row?.id ?? '')).rejects.toMatchObject({ status: 404 });
    await expect(deleteAccount(row?.id ?? '')).rejects.toMatchObject({ status: 404 });
    expect(await noted()).toHaveLength(1);
  });
});

describe('a delivery to an API with several loop marks', () => {
  const markFor = async (path: string): Promise<string> => {
    const { loopMark } = await import('../../../lambdas/delivery/loopDetection.ts');
    const [[, mark] = ['', '']] = await loopMark({ prefix: 'Svc', url: `https://queue.example.com${path}` });
    return mark;
  };

  it('is refused if any of them is its own, in any order that a proxy sends or joins', async () => {
    const { refuseOwnDelivery } = await import('../../../lambdas/delivery/loopDetection.ts');
    const [own, other] = [await markFor('/v2/publish/x'), await markFor('/v2/batch')];
    const withMarks = (...marks: readonly string[]) => ({
      ...{ prefix: 'Svc', queryToken: undefined, otherHeaders: [], otherQuery: [] },
      config: new Map([['circle-mark', marks]]),
    });
    for (const marks of [[own], [own, other], [other, own], [`${own}, ${other}`], [`${other},${own}`]]) {
      await expect(refuseOwnDelivery(withMarks(...marks), '/v2/publish/x')).rejects.toMatchObject({
        code: 'delivery_loop',
      });
    }
    await expect(refuseOwnDelivery(withMarks(other), '/v2/publish/x')).resolves.toBeUndefined();
    await expect(refuseOwnDelivery(withMarks(), '/v2/publish/x')).resolves.toBeUndefined();
  });
});
