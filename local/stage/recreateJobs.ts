/** Makes again what the journals of the queues and schedules have lost. */
import type { StandInOptions } from './standIns.ts';

/** What follows from a record is done again when the record is not older, ms: no worker takes longer. */
const followUpsMs = 3_600_000;

/** Sends again all that the tables say is to be done. What is still queued may then be attempted twice. */
export async function recreateJobs(announce: StandInOptions['announce']): Promise<void> {
  announce(
    'A journal of the queues or schedules is missing or damaged: making its contents again from the database.',
  );
  // The settings must stand before the module is loaded.
  const { recover } = await import('../../lambdas/recovery/recover.ts');
  const { attempts, waiting, schedules, skippedRuns } = await recover({
    since: Date.now() - followUpsMs,
    isDryRun: false,
  });
  announce(
    `Made again: ${attempts} attempts, ${schedules} schedules; ${waiting} messages wait in lines; ${skippedRuns} runs could not be read.`,
  );
}
