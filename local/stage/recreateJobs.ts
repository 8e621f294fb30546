/** Makes again what the journals of the queues and schedules have lost. */
import type { StandInOptions, StandIns } from './standIns.ts';

/** The work that follows from a record is done again if the record is not older, ms: no worker takes longer. */
const followUpsMs = 3_600_000;

/**
 * Sends again all that the tables say is to be done, and no queue has.
 *
 * @param reason the beginning of a sentence
 */
export async function recreateJobs(
  reason: string,
  { sqs, scheduler }: Pick<StandIns, 'sqs' | 'scheduler'>,
  announce: StandInOptions['announce'],
): Promise<void> {
  announce(`${reason}: making what is missing again from the database.`);
  const startedAt = performance.now();
  // The settings must stand before the module is loaded.
  const { recover } = await import('../../lambdas/recovery/recover.ts');
  const ends = [sqs.queues.withoutDoubles(), scheduler.withoutDoubles()];
  const { attempts, waiting, schedules, skippedRuns } = await recover({
    since: Date.now() - followUpsMs,
    isDryRun: false,
    isStill: true,
  }).finally(() => {
    for (const end of ends) end();
  });
  announce(
    `Looked after ${attempts} attempts and ${schedules} schedules in ${Math.ceil((performance.now() - startedAt) / 1_000)} s; ` +
      `${waiting} messages wait in lines; ${skippedRuns} runs could not be read.`,
  );
}
