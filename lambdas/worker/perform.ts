import type { GiveUpReason } from '../job/redelivery.ts';
import { isRemoved, type Account } from '../account/account.ts';
import type { BulkJob, Job, RunEndJob } from '../job/job.ts';
import { loadAccount } from '../account/accounts.ts';
import { plugInGroups, plugInRuns } from '../message/kinds.ts';
import { deliver } from '../delivery/deliver.ts';
import { pump } from '../lane/pump.ts';

/** Loaded when the first job of a run arrives. */
const runs = () => import('../workflow/forWorkers.ts');
const bulk = () => import('../bulk/step.ts');
plugInRuns(async () => (await runs()).messageKind);
plugInGroups(() => import('../urlGroup/forWorkers.ts'));

/**
 * @param isAgain whether the job was received before
 * @throws if the job must be retried
 */
export async function perform(job: Job, { isAgain }: { readonly isAgain: boolean }): Promise<void> {
  switch (job.kind) {
    case 'attempt':
      return deliver(job, isAgain);
    case 'completionTimeout':
      return (await import('../delivery/deferred.ts')).timeOut(job, isAgain);
    case 'pump':
      return pump(job);
    case 'runStart':
      return (await runs()).checkStart(job);
    case 'runEnd':
      return forOwner(job, async (account) => (await runs()).followUpEnd(account, job));
    case 'runRefused':
      return (await runs()).failRefused(job);
    case 'waitTimeout':
      return (await runs()).checkWait(job);
    case 'bulk':
      return forOwner(job, async (account) => (await bulk()).doStep(account, job, isAgain));
  }
}

/** Does nothing if the account is gone. */
async function forOwner(
  { accountId }: RunEndJob | BulkJob,
  work: (account: Account) => Promise<unknown>,
): Promise<void> {
  const account = await loadAccount(accountId, false);
  if (account !== undefined && !isRemoved(account)) await work(account);
}

/** @throws if it must be retried */
export async function giveUp(job: Job, why: GiveUpReason): Promise<void> {
  switch (job.kind) {
    case 'attempt':
      return (await import('../delivery/giveUp.ts')).giveUpAttempt(job, why);
    case 'completionTimeout':
      // A timeout that cannot be handled is given up as the attempt that timed out.
      return (await import('../delivery/giveUp.ts')).giveUpAttempt(
        {
          kind: 'attempt',
          accountId: job.accountId,
          messageId: job.messageId,
          attempt: job.attempt,
          queue: 'short',
        },
        why,
      );
    case 'pump':
      // A pump is retried forever. Otherwise the attempts in the line would never start.
      return pump(job);
    case 'runStart':
      return (await runs()).giveUpStart(job, why);
    case 'runEnd':
      return forOwner(job, async (account) => (await runs()).giveUpRunEnd(account, job, why));
    case 'runRefused':
      return (await runs()).giveUpRefused(job, why);
    case 'waitTimeout':
      return (await runs()).giveUpWait(job, why);
    case 'bulk':
      return (await bulk()).giveUpStep(job, why);
  }
}

/** A unique name. A job's starts are counted under it. */
export function nameOf(job: Job): string {
  switch (job.kind) {
    case 'attempt':
      return `${job.messageId}~${job.attempt}`;
    case 'completionTimeout':
      return `completion~${job.messageId}~${job.attempt}`;
    case 'pump':
      return `pump~${job.accountId}~${job.lane}~${job.name}`;
    case 'runStart':
      return `runStart~${job.accountId}~${job.messageId}~${job.runId}`;
    case 'runEnd':
      return `runEnd~${job.accountId}~${job.runId}~${job.createdAt}`;
    case 'runRefused':
      return `runRefused~${job.accountId}~${job.startSeq}~${job.runId}`;
    case 'waitTimeout':
      return `wait~${job.accountId}~${job.seq}~${job.runId}`;
    case 'bulk':
      return `bulk~${job.accountId}~${job.bulkId}~${job.step}`;
  }
}
