/**
 * Lets days pass in the data of a stage: each day's messages get their rows, and pass its queue with its journal; then what is past
 * its time is deleted. All of it by the stage's own parts. The last day is today.
 */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { dayMs } from '../../lambdas/shared/clock.ts';
import { deleteExpired } from '../../local/dynamodb/expiry.ts';
import { openQueueJournal } from '../../local/sqs/queueJournal.ts';
import { Queues } from '../../local/sqs/queues.ts';
import { copyMessages, residentMb, withDatabase, type Samples } from './rows.ts';

export interface Day {
  readonly day: number;
  readonly deletedRows: number;
  readonly databaseMb: number;
  readonly journalMb: number;
  /** Resident memory of the database process. */
  readonly memoryMb: number;
}

const mb = (path: string): number => statSync(path).size / 2 ** 20;

export async function passDays(
  dataDir: string,
  { delivered }: Samples,
  { days, messagesADay }: { readonly days: number; readonly messagesADay: number },
): Promise<readonly Day[]> {
  const journal = join(dataDir, 'sqs.journal');
  let now = Date.now() - days * dayMs;
  return withDatabase(dataDir, async ({ call, pid }) => {
    const queues = new Queues(
      [{ name: 'short', visibilityTimeoutMs: 70_000 }],
      openQueueJournal(journal),
      () => now,
    );
    const job = JSON.stringify(delivered[0]?.['id']).padEnd(250);
    const passed: Day[] = [];
    for (let day = 1; day <= days; day += 1) {
      now += dayMs;
      await copyMessages(call, delivered, messagesADay, now);
      for (let message = 0; message < messagesADay; message += 1) {
        queues.send('short', [{ body: job, delayMs: 0, groupId: undefined }]);
        const options = { max: 10, waitMs: 0, signal: AbortSignal.timeout(60_000) };
        queues.delete((await queues.receive('short', options)).map(({ receipt }) => receipt));
      }
      await queues.flushed();
      const deletedRows = await deleteExpired({ call, now: () => now, pause: () => Promise.resolve() });
      const databaseMb = mb(join(dataDir, 'dynamodb.db'));
      passed.push({ day, deletedRows, databaseMb, journalMb: mb(journal), memoryMb: residentMb(pid) });
    }
    queues.close();
    return passed;
  });
}
