/** Usage counting by the processes of publish, with the service's own counters, and the row that they update. */
import type { Account } from '../../lambdas/account/account.ts';
import * as z from 'zod/mini';
import type { Item } from '../units.ts';
import type { Service } from './service.ts';

const added = z.object({
  ExpressionAttributeValues: z.record(z.string(), z.object({ N: z.string() })),
});
const counted = ['requests', 'messages', 'calls', 'bytes'] as const;

/** Answers updates that only add: of usage, and of counts of dead letters. */
export function usageRowOf(rows: Map<string, Item>): (key: Item, input: object) => { readonly row: Item } {
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
    return { row };
  };
}

type Count = InstanceType<Service['ProcessCount']>;

/** A process of publish, as far as it counts usage and knows accounts. */
class PublishProcess {
  readonly #service: Service;
  readonly #random: () => number;
  readonly #counts = new Map<string, Count>();
  readonly #find: (id: string) => Promise<unknown>;
  #time = 0;

  constructor(service: Service, random: () => number) {
    this.#service = service;
    this.#random = random;
    this.#find = service.accountReader(() => this.#time);
  }

  /** Reads a request's account, or uses the cached one. */
  async readAccount(id: string, time: number): Promise<void> {
    this.#time = time;
    await this.#find(id);
  }

  /**
   * Counts a request's messages, and reports them when a step is full. The simulated time is the beginning of a day, when
   * reports are most frequent.
   *
   * @param perSecond the account's messages per second on the previous day
   */
  async count(account: Account, messages: number, time: number, perSecond: number): Promise<void> {
    const known = this.#counts.get(account.id);
    const count = known ?? new this.#service.ProcessCount(this.#random(), perSecond);
    this.#counts.set(account.id, count);
    if (known === undefined) count.hear(this.#service.noUsage, time);
    count.count({ requests: messages, messages, calls: 1, bytes: 1_024 });
    const limits = this.#service.allowanceOf(account);
    if (!count.isReportDue(limits, time)) return;
    const report = count.makeReport(limits, time);
    const day = new Date(time).toISOString().slice(0, 10);
    const row = await this.#service.addUsage(account.id, day, 0, report.added);
    count.noteReported(report, row, time);
  }
}

export class UsageFleet {
  readonly #processes: readonly PublishProcess[];
  readonly #random: () => number;

  constructor(service: Service, size: number, random: () => number) {
    this.#random = random;
    this.#processes = Array.from({ length: size }, () => new PublishProcess(service, random));
  }

  pick(): PublishProcess {
    const process = this.#processes[Math.floor(this.#random() * this.#processes.length)];
    if (process === undefined) throw new Error('A fleet has one process at least.');
    return process;
  }
}
