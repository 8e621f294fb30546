import { once } from 'node:events';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { takeNotices } from '../../support/accountNotices.ts';
import { declareFault } from '../../support/faults.ts';
import { useStandIns } from '../../support/useStandIns.ts';

// Clients wait as long as on AWS: a silent stand-in counts as away instead of slow.
process.env['CLIENT_PATIENCE'] = '1';

/** The management API runs in eu-central-1. Calls to us-east-1 go to a closed port, or to a server that does not answer. */

const hangMs = 60_000;
const away = 'us-east-1';
const standIns = useStandIns({ overHttp: true });

type Absence = 'refuses' | 'stays silent';
const absences: readonly Absence[] = ['refuses', 'stays silent'];

let lambdas: Awaited<ReturnType<typeof importLambdas>>;
let silent: Server;
let closedPort: number;
const sockets = new Set<Socket>();
let absence: Absence | undefined;
let asked = 0;
let onAsked: (() => void) | undefined;
let onMisled: (() => void) | undefined;

async function importLambdas() {
  vi.resetModules();
  const [accounts, list, change, store, { dynamodbIn, toItem }, { sqsIn }] = await Promise.all([
    import('../../../lambdas/management/accounts.ts'),
    import('../../../lambdas/management/accountList.ts'),
    import('../../../lambdas/management/followAccount.ts'),
    import('../../../lambdas/account/accounts.ts'),
    import('../../../lambdas/aws/dynamodb.ts'),
    import('../../../lambdas/aws/sqs.ts'),
  ]);
  return { ...accounts, ...list, ...change, ...store, dynamodbIn, toItem, sqsIn };
}

const portOf = (server: Server): number => (server.address() as AddressInfo).port;

async function listening(server: Server): Promise<Server> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

function misled(request: unknown): unknown {
  if (absence === undefined || typeof request !== 'object' || request === null) return request;
  asked += 1;
  onAsked?.();
  onMisled?.();
  const port = absence === 'refuses' ? closedPort : portOf(silent);
  const prototype: unknown = Object.getPrototypeOf(request);
  const copy: unknown = Object.create(typeof prototype === 'object' ? prototype : null);
  return Object.assign(Object(copy), request, { hostname: '127.0.0.1', port });
}

const eachTry = { step: 'finalizeRequest', priority: 'low', name: 'misled' } as const;

beforeAll(async () => {
  silent = await listening(createServer((socket) => sockets.add(socket.on('error', () => undefined))));
  const closed = await listening(createServer());
  closedPort = portOf(closed);
  closed.close();
  lambdas = await importLambdas();
  const { dynamodbIn, sqsIn } = lambdas;
  dynamodbIn(away).middlewareStack.add(
    (next) => (args) => next({ ...args, request: misled(args.request) }),
    eachTry,
  );
  sqsIn(away).middlewareStack.add(
    (next) => (args) => next({ ...args, request: misled(args.request) }),
    eachTry,
  );
});
afterEach(() => {
  absence = undefined;
  onAsked = undefined;
});
afterAll(() => {
  for (const socket of sockets) socket.destroy();
  silent.close();
});

const leave = (how: Absence): void => {
  absence = how;
  asked = 0;
  onMisled = declareFault(`${away} ${how}`);
};

const bytes = (fields: object): Uint8Array => Buffer.from(JSON.stringify(fields));

/** Receives all notices. Both regions share a queue here. */
const notices = async (): Promise<readonly unknown[]> => {
  const texts = await takeNotices(lambdas.sqsIn('eu-central-1'), standIns().sqs.queueUrl('accountChanges'));
  return texts.map((text): unknown => JSON.parse(text));
};

describe.each(absences)('while another region %s', (how) => {
  it('an account is suspended, shown and given new tokens at once', { timeout: hangMs }, async () => {
    const { id, token } = await lambdas.createAccount(bytes({}));
    leave(how);
    expect(await lambdas.updateAccount(id, bytes({ active: false }))).toMatchObject({ state: 'passive' });
    expect((await lambdas.rotateTokens(id)).token).not.toBe(token);
    expect((await lambdas.deleteAccount(id)).state).toBe('deleted');
    expect((await lambdas.getAccount(id)).state).toBe('deleted');
    // No call waited for the region’s timeout. Only reads of its replica have started.
    if (how === 'stays silent') expect(asked).toBeLessThanOrEqual(6);
    await notices();
  });

  it('its own region keeps notifying it, and it follows when it is back', { timeout: hangMs }, async () => {
    const { id } = await lambdas.createAccount(bytes({}));
    await notices();
    leave(how);
    await lambdas.updateAccount(id, bytes({ active: false }));
    const toOwn = { accountId: id, others: [away] };
    expect(await notices()).toEqual([toOwn, toOwn]);

    if (how === 'refuses') {
      await expect(lambdas.followAccount(toOwn)).rejects.toThrow('does not have the account’s change');
      absence = undefined;
      await lambdas.followAccount(toOwn);
    } else {
      const isAsked = new Promise<void>((resolve) => (onAsked = resolve));
      const following = lambdas.followAccount(toOwn);
      await isAsked;
      absence = undefined;
      for (const socket of sockets) socket.destroy();
      await following;
    }
    expect(await notices()).toEqual([{ accountId: id, version: 2 }]);
  });

  it('its accounts are listed and shown as the first region has them', { timeout: hangMs }, async () => {
    const { id } = await lambdas.createAccount(bytes({ region: away, customer_id: 'far' }));
    leave(how);
    const [{ accounts }, shown] = await Promise.all([lambdas.listAccounts([]), lambdas.getAccount(id)]);
    expect(accounts.find((account) => account.id === id)).toMatchObject({ region: away, customer_id: 'far' });
    expect(shown).toMatchObject({ region: away, customer_id: 'far' });
  });

  it('its accounts cannot be changed, and the answer names it', { timeout: hangMs }, async () => {
    const { id } = await lambdas.createAccount(bytes({ region: away }));
    leave(how);
    await expect(lambdas.updateAccount(id, bytes({ budget: 5 }))).rejects.toMatchObject({
      status: 503,
      message: 'The region us-east-1 does not answer; send the request again when it does.',
    });
    absence = undefined;
    expect(await lambdas.updateAccount(id, bytes({ budget: 5 }))).toMatchObject({ budget: 5 });
  });
});

describe('a region that was notified of a change', () => {
  it('follows once the change has reached its replica', async () => {
    const { id } = await lambdas.createAccount(bytes({}));
    const notice = { accountId: id, version: 2 };
    await expect(lambdas.followAccount(notice)).rejects.toThrow('has not arrived in this region yet');
    await lambdas.updateAccount(id, bytes({ active: false }));
    await lambdas.followAccount(notice);
    await notices();
  });
});

describe('a region that learns of a change too late', () => {
  it('does not turn a completed move into a failure', async () => {
    const { id } = await lambdas.createAccount(bytes({}));
    const before = await lambdas.loadAccount(id, true);
    if (before === undefined) throw new Error('The account is not there.');
    const { middlewareStack } = lambdas.dynamodbIn(away);
    vi.useFakeTimers({ toFake: ['Date'] });
    middlewareStack.add(
      (next) => async (args) => {
        const result = await next(args);
        // Each read takes a while, and the replica still has the old state.
        vi.setSystemTime(Date.now() + 6_000);
        return 'Item' in result.output
          ? {
              ...result,
              output: { ...result.output, Item: lambdas.toItem(before) },
            }
          : result;
      },
      { step: 'initialize', name: 'late' },
    );
    try {
      expect(await lambdas.updateAccount(id, bytes({ region: away }))).toMatchObject({ id, region: away });
    } finally {
      middlewareStack.remove('late');
      vi.useRealTimers();
    }
    await notices();
  });
});
