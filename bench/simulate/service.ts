/** The parts of the service that the simulation uses. */
import type { Account } from '../../lambdas/account/account.ts';
import type { AttemptState, Message } from '../../lambdas/message/message.ts';
import { jsonBody } from '../events.ts';
import type { Item } from '../units.ts';

export type Service = Awaited<ReturnType<typeof loadService>>;

const destination = 'https://hooks.shop.example/orders/paid?tenant=acme-shop';

/** These modules read the environment, so they are imported after it is set. */
export async function loadService() {
  const [
    accountModule,
    { newId, derivedId },
    { expiryOf },
    { ProcessCount },
    { noUsage },
    { allowanceOf },
    { addUsage },
    { loadAccount },
    { createKnownAccounts },
    { loadUrlGroup },
    { putMessage, recordAttempt },
    { storeBody },
    { putDeadLetter },
    { countIn },
    { dynamodb, toItem },
    lanes,
    { createLanes },
    { leaseTo, withNewestLimits, processPrefix },
    { createLaneGate },
    { createCircuits },
  ] = await Promise.all([
    import('../../lambdas/account/account.ts'),
    import('../../lambdas/shared/ids.ts'),
    import('../../lambdas/message/message.ts'),
    import('../../lambdas/usage/rules/processCount.ts'),
    import('../../lambdas/usage/usage.ts'),
    import('../../lambdas/usage/allowance.ts'),
    import('../../lambdas/usage/usageRows.ts'),
    import('../../lambdas/account/accounts.ts'),
    import('../../lambdas/account/knownAccounts.ts'),
    import('../../lambdas/urlGroup/rows.ts'),
    import('../../lambdas/message/messages.ts'),
    import('../../lambdas/message/bodies.ts'),
    import('../../lambdas/deadLetter/rows.ts'),
    import('../../lambdas/deadLetter/sizeRows.ts'),
    import('../../lambdas/aws/dynamodb.ts'),
    import('../../lambdas/lane/store/lanes.ts'),
    import('../../lambdas/lane/slots/lanes.ts'),
    import('../../lambdas/lane/lane.ts'),
    import('../../lambdas/lane/slots/acquire.ts'),
    import('../../lambdas/lane/slots/circuits.ts'),
  ]);

  /** Limits for an account of this size: see docs/scale.md. */
  const limits = {
    max_requests_per_second: 20_000,
    max_requests_per_day: 1e9,
    max_requests_per_day_hard: 1e10,
    max_global_parallelism: 100_000,
    max_parallelism: 10_000,
  };
  const retention = accountModule.limitsOf({ plan: 'paid', limits });
  const stored = await storeBody({ accountId: '', messageId: '', expiresAt: 0 }, jsonBody, 0);

  return {
    dynamodb,
    ProcessCount,
    noUsage,
    allowanceOf,
    addUsage,
    loadUrlGroup: (accountId: string, name: string) => loadUrlGroup(accountId, name),
    createLanes,
    createLaneGate,
    createCircuits,
    loadLane: lanes.loadLane,
    saveLane: lanes.saveLane,
    leaseTo,
    withNewestLimits,
    processPrefix,
    /** Reads accounts as a process of publish does when it checks tokens. */
    accountReader: (now: () => number) => createKnownAccounts((id) => loadAccount(id, true), now).find,
    newAccount: (id: string): Account => {
      const account = accountModule.newAccount({
        id,
        plan: 'paid',
        region: 'us-east-1',
        createdAt: 0,
        limits,
      });
      return { ...account, shards: accountModule.shardsFor(account) };
    },
    accountRow: (account: Account): Item => toItem(account),
    groupRow: (accountId: string, name: string, endpoints: number): Item =>
      toItem({
        ...{ accountId, name, defaults: [], createdAt: 0, updatedAt: 0, version: 1 },
        endpoints: Array.from({ length: endpoints }, (_, number) => ({
          url: `${destination}&shop=${number}`,
          name: `shop-${number}`,
        })),
      }),
    newMessage: ({ id: accountId, shards }: Account, time: number, topicName?: string): Message => {
      const due = { notBefore: time, maxRetries: 5, timeoutMs: 30_000 };
      return {
        ...due,
        ...{ accountId, topicName, url: destination, method: 'POST', prefix: 'Svc', labels: [] },
        messageId: newId('msg', time, shards),
        createdAt: time,
        headers: [['content-type', 'application/json']],
        callerIp: '203.0.113.7',
        expiresAt: expiryOf(due, retention),
      };
    },
    putMessage: (message: Message) => putMessage(message, stored),
    recordAttempt: (message: Message, recordedAt: number, state: AttemptState) =>
      recordAttempt(message, {
        ...{ number: 0, state, startedAt: recordedAt - 100, recordedAt },
        response: { status: state === 'DELIVERED' ? 200 : 404, headers: [], body: new Uint8Array() },
      }),
    putDeadLetter: async (message: Message, failedAt: number): Promise<void> => {
      const expiresAt = failedAt + retention.max_dlq_retention_time_milis;
      await putDeadLetter({
        ...{ message, retried: 0, failedAt, responseStatus: 404, responseHeaders: [], expiresAt },
        dlqId: derivedId('dlq', failedAt, message.messageId, message.messageId),
      });
      await countIn(message.accountId, [expiresAt], failedAt);
    },
  };
}
