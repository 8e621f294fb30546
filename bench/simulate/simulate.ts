/**
 * Simulates what a second of heavy traffic writes and reads per partition key. Stores, counters and lanes are the service's
 * own; the processes, the time and the table are simulated.
 */
import { randomUUID } from 'node:crypto';
import type { Account } from '../../lambdas/account/account.ts';
import type { Message } from '../../lambdas/message/message.ts';
import { secondMs } from '../../lambdas/shared/clock.ts';
import type { Item } from '../units.ts';
import { cutOff, type CutOff } from './cutOff.ts';
import { KeyLoads, type KeyLoad } from './keyLoads.ts';
import { simulateLanes } from './lanes.ts';
import { loadService, type Service } from './service.ts';
import { randomFrom, sharesOf, type Scenario } from './scenario.ts';
import { UsageFleet, usageRowOf } from './usage.ts';

/** From the publish to the record of its attempt. */
const deliveredAfterMs = 200;

/** Requires the handlers' environment: see `test/support/inProcess.ts`. */
export async function simulate(scenario: Scenario): Promise<readonly KeyLoad[]> {
  const service = await loadService();
  const loads = new KeyLoads();
  const random = randomFrom(scenario.seed);
  const usageRows = new Map<string, Item>();
  const tables = cutOff(service.dynamodb, loads, { update: usageRowOf(usageRows) });
  const accounts = sharesOf(scenario).map((share) => ({ share, account: service.newAccount(randomUUID()) }));
  for (const { account } of accounts) tables.keep('accounts', service.accountRow(account));
  const [largest] = accounts;
  if (largest === undefined) throw new Error('A scenario has one account at least.');
  const groupName = 'all-shops';
  tables.keep('groups', service.groupRow(largest.account.id, groupName, scenario.endpoints));

  const start = Date.UTC(2026, 10, 22);
  const fleet = new UsageFleet(service, scenario.publishProcesses, random);
  const pick = pickerOf(accounts, random);
  const each = { service, scenario, tables, fleet, random, groupName, largest: largest.account };
  const gapMs = secondMs / scenario.messagesPerSecond;
  const all = scenario.messagesPerSecond * scenario.seconds;
  for (let made = 0; made < all;) {
    const at = Math.floor(made * gapMs);
    tables.second = Math.floor(at / secondMs);
    made += await publishAndDeliver(each, pick(), start + at, start);
  }
  await simulateLanes(service, scenario, tables, largest);
  tables.end();
  return loads.hottest(scenario.seconds);
}

interface Sharer {
  readonly share: number;
  readonly account: Account;
}

function pickerOf(accounts: readonly Sharer[], random: () => number): () => Sharer {
  return () => {
    let left = random();
    for (const one of accounts) {
      if (left < one.share) return one;
      left -= one.share;
    }
    const [first] = accounts;
    if (first === undefined) throw new Error('There is no account.');
    return first;
  };
}

interface Fixture {
  readonly service: Service;
  readonly scenario: Scenario;
  readonly tables: CutOff;
  readonly fleet: UsageFleet;
  readonly random: () => number;
  readonly groupName: string;
  readonly largest: Account;
}

/**
 * Simulates a request: it is authenticated, its messages are counted and written, and their attempts recorded.
 *
 * @returns its messages
 */
async function publishAndDeliver(
  { service, scenario, tables, fleet, random, groupName, largest }: Fixture,
  { account, share }: Sharer,
  time: number,
  start: number,
): Promise<number> {
  // A group's messages are `endpoints` times its requests.
  const toGroup = scenario.groupShare / scenario.endpoints;
  const isToGroup = account === largest && random() < toGroup / (toGroup + 1 - scenario.groupShare);
  const messages = isToGroup ? scenario.endpoints : 1;

  const process = fleet.pick();
  await process.readAccount(account.id, time);
  if (isToGroup) await service.loadUrlGroup(account.id, groupName);
  await process.count(account, messages, time, share * scenario.messagesPerSecond);
  for (let made = 0; made < messages; made += 1) {
    const message = service.newMessage(account, time, isToGroup ? groupName : undefined);
    await service.putMessage(message);
    const published = tables.second;
    tables.second = Math.min(scenario.seconds - 1, Math.floor((time + deliveredAfterMs - start) / secondMs));
    await recordOutcome(service, message, time + deliveredAfterMs, random() < scenario.failingShare);
    tables.second = published;
  }
  return messages;
}

async function recordOutcome(
  service: Service,
  message: Message,
  recordedAt: number,
  isFailed: boolean,
): Promise<void> {
  await service.recordAttempt(message, recordedAt, isFailed ? 'FAILED' : 'DELIVERED');
  if (isFailed) await service.putDeadLetter(message, recordedAt);
}
