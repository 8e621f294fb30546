/**
 * Simulates what a second of heavy traffic writes and reads per partition key. Stores, counters and lanes are the service's
 * own; the processes, the time and the table are simulated. The service's modules read the environment, so this one is imported
 * after it is set: see `test/support/inProcess.ts`.
 */
import { randomUUID } from 'node:crypto';
import { type Account, limitsOf, newAccount, shardsFor } from '../../lambdas/account/account.ts';
import { dynamodb, toItem } from '../../lambdas/aws/dynamodb.ts';
import { putDeadLetter } from '../../lambdas/deadLetter/rows.ts';
import { countIn } from '../../lambdas/deadLetter/sizeRows.ts';
import { storeBody } from '../../lambdas/message/bodies.ts';
import { expiryOf, type Message } from '../../lambdas/message/message.ts';
import { putMessage, recordAttempt } from '../../lambdas/message/messages.ts';
import { secondMs } from '../../lambdas/shared/clock.ts';
import { derivedId, newId } from '../../lambdas/shared/ids.ts';
import { jsonBody } from '../events.ts';
import { cutOff } from './cutOff.ts';
import { KeyLoads, type KeyLoad } from './keyLoads.ts';
import { simulateAccountLane } from './lanes.ts';
import { randomFrom, type Scenario } from './scenario.ts';
import { answerAdding, PublishProcess } from './usage.ts';

/** From the publish to the record of its attempt. */
const deliveredAfterMs = 200;

/** Limits for an account of this size: see docs/scale.md. */
const limits = {
  max_requests_per_second: 20_000,
  max_requests_per_day: 1e9,
  max_requests_per_day_hard: 1e10,
  max_global_parallelism: 100_000,
  max_parallelism: 10_000,
};
const retention = limitsOf({ plan: 'paid', limits });

function makeAccount(): Account {
  const made = newAccount({ id: randomUUID(), plan: 'paid', region: 'us-east-1', createdAt: 0, limits });
  return { ...made, shards: shardsFor(made) };
}

function makeMessage({ id: accountId, shards }: Account, time: number): Message {
  const due = { notBefore: time, maxRetries: 5, timeoutMs: 30_000 };
  return {
    ...due,
    accountId,
    method: 'POST',
    prefix: 'Svc',
    labels: [],
    url: 'https://hooks.shop.example/orders/paid?tenant=acme-shop',
    messageId: newId('msg', time, shards),
    createdAt: time,
    headers: [['content-type', 'application/json']],
    callerIp: '203.0.113.7',
    expiresAt: expiryOf(due, retention),
  };
}

async function recordOutcome(message: Message, recordedAt: number, isFailed: boolean): Promise<void> {
  await recordAttempt(message, {
    number: 0,
    state: isFailed ? 'FAILED' : 'DELIVERED',
    startedAt: recordedAt - 100,
    recordedAt,
    response: { status: isFailed ? 404 : 200, headers: [], body: new Uint8Array() },
  });
  if (!isFailed) return;
  const expiresAt = recordedAt + retention.max_dlq_retention_time_milis;
  await putDeadLetter({
    message,
    retried: 0,
    failedAt: recordedAt,
    responseStatus: 404,
    responseHeaders: [],
    expiresAt,
    dlqId: derivedId('dlq', recordedAt, message.messageId, message.messageId),
  });
  await countIn(message.accountId, [expiresAt], recordedAt);
}

export async function simulate(scenario: Scenario): Promise<readonly KeyLoad[]> {
  const { messagesPerSecond, seconds, failingShare, processes } = scenario;
  const body = await storeBody({ accountId: '', messageId: '', expiresAt: 0 }, jsonBody, 0);
  const loads = new KeyLoads();
  const random = randomFrom(scenario.seed);
  const tables = cutOff(dynamodb, loads, answerAdding());
  const accounts = Array.from({ length: scenario.accounts }, makeAccount);
  for (const account of accounts) tables.keep('accounts', toItem(account));
  const start = Date.UTC(2026, 10, 22);
  const fleet = Array.from({ length: processes }, () => new PublishProcess(random));
  const pick = <T>(all: readonly T[]): T => {
    const one = all[Math.floor(random() * all.length)];
    if (one === undefined) throw new Error('A scenario has one account and one process at least.');
    return one;
  };
  // A request is authenticated, its message is counted and written, and its attempt is recorded.
  for (let made = 0; made < messagesPerSecond * seconds; made += 1) {
    const account = pick(accounts);
    const at = Math.floor((made * secondMs) / messagesPerSecond);
    tables.second = Math.floor(at / secondMs);
    const process = pick(fleet);
    await process.readAccount(account.id, start + at);
    await process.count(account, start + at, messagesPerSecond / accounts.length);
    const message = makeMessage(account, start + at);
    await putMessage(message, body);
    tables.second = Math.min(seconds - 1, Math.floor((at + deliveredAfterMs) / secondMs));
    await recordOutcome(message, start + at + deliveredAfterMs, random() < failingShare);
  }
  await simulateAccountLane(scenario, tables, pick(accounts));
  tables.end();
  return loads.hottest(seconds);
}
