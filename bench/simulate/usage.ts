/** Usage counting by the processes of publish, with the service's own counters, and the row that they update. */
import * as z from 'zod/mini';
import type { Account } from '../../lambdas/account/account.ts';
import { loadAccount } from '../../lambdas/account/accounts.ts';
import { createKnownAccounts } from '../../lambdas/account/knownAccounts.ts';
import { allowanceOf } from '../../lambdas/usage/allowance.ts';
import { ProcessCount } from '../../lambdas/usage/rules/processCount.ts';
import { noUsage } from '../../lambdas/usage/usage.ts';
import { addUsage } from '../../lambdas/usage/usageRows.ts';
import type { Item } from '../units.ts';

const added = z.object({
  ExpressionAttributeValues: z.record(z.string(), z.object({ N: z.string() })),
});
const counted = ['requests', 'messages', 'calls', 'bytes'] as const;

/** Answers updates that only add: those of usage and of the counts of dead letters. */
export function answerAdding(): (key: Item, input: object) => Item {
  const rows = new Map<string, Item>();
  return (key, input) => {
    const name = JSON.stringify(key);
    const before = rows.get(name) ?? {};
    const values = added.parse(input).ExpressionAttributeValues;
    const row = Object.fromEntries(
      counted.map((field) => [
        field,
        { N: String(Number(before[field]?.N ?? 0) + Number(values[`:${field}`]?.N ?? 0)) },
      ]),
    );
    rows.set(name, row);
    return row;
  };
}

/** The part of a publish process that counts usage and knows accounts. */
export class PublishProcess {
  readonly #random: () => number;
  readonly #counts = new Map<string, ProcessCount>();
  readonly #known = createKnownAccounts(
    (id) => loadAccount(id, true),
    () => this.#time,
  );
  #time = 0;

  constructor(random: () => number) {
    this.#random = random;
  }

  /** Finds a request's account, read or cached, as publish does when it checks tokens. */
  async readAccount(id: string, time: number): Promise<void> {
    this.#time = time;
    await this.#known.find(id);
  }

  /**
   * Counts a request's message, and reports when a step is full. The simulated time is the beginning of a day, when reports are
   * most frequent.
   *
   * @param perSecond the account's messages per second on the previous day
   */
  async count(account: Account, time: number, perSecond: number): Promise<void> {
    const known = this.#counts.get(account.id);
    const count = known ?? new ProcessCount(this.#random(), perSecond);
    this.#counts.set(account.id, count);
    if (known === undefined) count.hear(noUsage, time);
    count.count({ requests: 1, messages: 1, calls: 1, bytes: 1_024 });
    const limits = allowanceOf(account);
    if (!count.isReportDue(limits, time)) return;
    const report = count.makeReport(limits, time);
    const day = new Date(time).toISOString().slice(0, 10);
    const row = await addUsage(account.id, day, 0, report.added);
    count.noteReported(report, row, time);
  }
}
