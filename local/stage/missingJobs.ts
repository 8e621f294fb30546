/** Makes again the jobs that the queues and Scheduler have lost. */
import { setTimeout } from 'node:timers/promises';
import type { DataDirectory } from './dataDirectory.ts';
import type { StandInOptions, StandIns } from './standIns.ts';

/** The pause after a failure, ms. */
const pauseMs = 10_000;

const reasons = {
  journals: 'A journal of the queues or schedules is missing or damaged',
  power: 'The machine lost its power',
} as const;

interface Search extends Pick<StandInOptions, 'announce' | 'report'> {
  readonly standIns: Pick<StandIns, 'sqs' | 'scheduler'>;
  readonly data: DataDirectory;
}

/** The search for jobs that are missing. */
export interface MissingJobs {
  /** Whether a journal is known to lack something: then nothing may run before the search. */
  readonly isCertain: boolean;
  /** @throws when something could not be read or sent; the next stage begins again */
  readonly send: () => Promise<void>;
  /**
   * Searches until it has succeeded once. The functions run meanwhile.
   *
   * @returns ends the search, which the next stage begins again
   */
  readonly sendMeanwhile: () => () => Promise<void>;
}

/**
 * Prepares to send again all that the tables ask for, and neither the queues nor Scheduler have. After a loss of power the search
 * may go on beside the functions: the journals were flushed, so only a disk that lost what it had confirmed lacks anything, and to
 * read all messages may take minutes.
 *
 * @returns undefined where no job is missing
 */
export function missingJobs({
  announce,
  report,
  data,
  standIns: { sqs, scheduler },
}: Search): MissingJobs | undefined {
  const { unchecked } = data;
  if (unchecked === undefined) return undefined;
  const { reason, writtenAt } = unchecked;
  const inQueues = sqs.queues.noteTexts();
  const inScheduler = scheduler.inputs();
  const isThere = (job: string): boolean => inQueues.has(job) || inScheduler.has(job);
  const send = async (signal?: AbortSignal): Promise<void> => {
    announce(`${reasons[reason]}: making what is missing again from the database.`);
    announce(await sendMissingJobs(Math.min(Date.now(), writtenAt), isThere, signal));
    data.checked();
    sqs.queues.forgetTexts();
  };
  const sendMeanwhile = (): (() => Promise<void>) => {
    const ending = new AbortController();
    const { signal } = ending;
    const untilDone = async (): Promise<void> => {
      while (!signal.aborted) {
        try {
          await send(signal);
          return;
        } catch (error) {
          if (signal.aborted) return;
          report(error);
          await setTimeout(pauseMs, undefined, { signal }).catch(() => undefined);
        }
      }
    };
    const done = untilDone();
    return () => {
      ending.abort();
      return done;
    };
  };
  return { isCertain: reason === 'journals', send, sendMeanwhile };
}

/**
 * @param lostAt epoch milliseconds
 * @returns a sentence about what was found
 */
async function sendMissingJobs(
  lostAt: number,
  isThere: (job: string) => boolean,
  signal: AbortSignal | undefined,
): Promise<string> {
  const startedAt = performance.now();
  // The settings must stand before the module is loaded.
  const { longestWorkMs, recover } = await import('../../lambdas/recovery/recover.ts');
  const { attempts, waiting, schedules, skippedRuns } = await recover({
    since: lostAt - longestWorkMs,
    isDryRun: false,
    isThere,
    ...(signal !== undefined && { signal }),
  });
  const seconds = Math.ceil((performance.now() - startedAt) / 1_000);
  return (
    `Looked after ${attempts} attempts and ${schedules} schedules in ${seconds} s; ` +
    `${waiting} messages wait in lines; ${skippedRuns} runs could not be read.`
  );
}
