/** Looks at starts: each is sent before the record of its start is written, so that the start is finished, whoever dies. */
import { now, secondMs } from '../../shared/clock.ts';
import type { RunStartJob } from '../../job/job.ts';
import { sendAll } from '../../job/send.ts';

/**
 * A look comes when nothing of its start is left but what is stored. A request to the API ends after 29 s; an attempt that it
 * sent as the last thing, and whose message it did not store, is dropped 15 s later (`delivery/deliver.ts`).
 */
export const lookAfterMs = 45 * secondMs;

/**
 * Has somebody look at starts that this process is about to record, ten to a call.
 *
 * @throws when a look could not be sent: its start must not be recorded then
 */
export async function sendStartLooks(starts: readonly Omit<RunStartJob, 'kind'>[]): Promise<void> {
  const dueAt = now() + lookAfterMs;
  await sendAll(starts, (start) => ({ job: { kind: 'runStart', ...start }, dueAt }));
}
