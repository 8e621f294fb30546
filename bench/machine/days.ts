/**
 * Simulates days in a stage's store with the stage's own code: each day's messages get rows, their jobs pass a queue, and
 * expired data is deleted. The last day is today.
 */
import { dayMs } from '../../lambdas/shared/clock.ts';
import { deleteExpired } from '../../local/dynamodb/expiry.ts';
import { Rows } from '../../local/dynamodb/rows.ts';
import { Queues } from '../../local/sqs/queues.ts';
import { copyMessages, fileMb, withStore, type Samples } from './samples.ts';

interface Day {
  readonly day: number;
  readonly deletedRows: number;
  readonly fileMb: number;
}

const together = 10;

export function passDays(
  dataDir: string,
  { delivered }: Samples,
  { days, messagesADay }: { readonly days: number; readonly messagesADay: number },
): Promise<readonly Day[]> {
  let now = Date.now() - days * dayMs;
  return withStore(dataDir, async (store) => {
    const rows = new Rows(store);
    const queues = new Queues([{ name: 'short', visibilityTimeoutMs: 70_000 }], store, () => now);
    const jobs = Array.from({ length: together }, () => ({
      body: delivered.messageId.padEnd(250),
      delayMs: 0,
      groupId: undefined,
    }));
    const passed: Day[] = [];
    for (let day = 1; day <= days; day += 1) {
      now += dayMs;
      for (let message = 0; message < messagesADay; message += together) {
        const { sent } = queues.send('short', jobs);
        await copyMessages(store, delivered, together, now);
        await sent;
        const options = { max: together, waitMs: 0, signal: AbortSignal.timeout(60_000) };
        queues.delete((await queues.receive('short', options)).map(({ receipt }) => receipt));
      }
      const deletedRows = await deleteExpired({ rows, now: () => now, pause: () => Promise.resolve() });
      passed.push({ day, deletedRows, fileMb: fileMb(dataDir) });
    }
    queues.close();
    return passed;
  });
}
