import type { GiveUpReason } from '../job/redelivery.ts';
import { isDeleted, type Account } from '../account/account.ts';
import type { RunEndJob, RunRefusedJob, RunStartJob, WaitTimeoutJob, Job } from '../job/job.ts';
import { loadAccount } from '../account/accounts.ts';
import { plugInRuns } from '../message/kinds.ts';
import { deliver } from '../delivery/deliver.ts';
import { giveUpAttempt } from '../delivery/giveUp.ts';
import { pump } from '../lane/pump.ts';

plugInRuns(async () => (await import('../workflow/forWorkers.ts')).messageKind);

/**
 * Does a job of any kind.
 *
 * @param isAgain whether it has been handed out before
 * @throws when it has to be done again
 */
export function perform(job: Job, { isAgain }: { readonly isAgain: boolean }): Promise<void> {
  switch (job.kind) {
    case 'attempt':
      return deliver(job, isAgain);
    case 'pump':
      return pump(job);
    case 'runStart':
      return checkStartOf(job);
    case 'runEnd':
      return followUpRunEnd(job);
    case 'runRefused':
      return failRefusedOf(job);
    case 'waitTimeout':
      return checkWaitOf(job);
  }
}

async function ownerOfRun({ accountId }: RunEndJob): Promise<Account | undefined> {
  const account = await loadAccount(accountId, false);
  return account === undefined || isDeleted(account) ? undefined : account;
}

async function checkStartOf(job: RunStartJob): Promise<void> {
  const { checkStart } = await import('../workflow/forWorkers.ts');
  await checkStart(job);
}

async function giveUpStartOf(job: RunStartJob, why: GiveUpReason): Promise<void> {
  const { giveUpStart } = await import('../workflow/forWorkers.ts');
  await giveUpStart(job, why);
}

async function followUpRunEnd(job: RunEndJob): Promise<void> {
  const account = await ownerOfRun(job);
  if (account === undefined) return;
  const { followUpEnd } = await import('../workflow/forWorkers.ts');
  await followUpEnd(account, job);
}

async function giveUpRunEndOf(job: RunEndJob, why: GiveUpReason): Promise<void> {
  const account = await ownerOfRun(job);
  if (account === undefined) return;
  const { giveUpRunEnd } = await import('../workflow/forWorkers.ts');
  await giveUpRunEnd(account, job, why);
}

async function failRefusedOf(job: RunRefusedJob): Promise<void> {
  const { failRefused } = await import('../workflow/forWorkers.ts');
  await failRefused(job);
}

async function giveUpRefusedOf(job: RunRefusedJob, why: GiveUpReason): Promise<void> {
  const { giveUpRefused } = await import('../workflow/forWorkers.ts');
  await giveUpRefused(job, why);
}

async function checkWaitOf(job: WaitTimeoutJob): Promise<void> {
  const { checkWait } = await import('../workflow/forWorkers.ts');
  await checkWait(job);
}

async function giveUpWaitOf(job: WaitTimeoutJob, why: GiveUpReason): Promise<void> {
  const { giveUpWait } = await import('../workflow/forWorkers.ts');
  await giveUpWait(job, why);
}

/**
 * Ends a job that kills its worker, or that the service itself fails with again and again.
 *
 * @throws when that has to be done again
 */
export function giveUp(job: Job, why: GiveUpReason): Promise<void> {
  switch (job.kind) {
    case 'attempt':
      return giveUpAttempt(job, why);
    case 'pump':
      // A pump is never given up: the attempts in the line would wait for ever.
      return pump(job);
    case 'runStart':
      return giveUpStartOf(job, why);
    case 'runEnd':
      return giveUpRunEndOf(job, why);
    case 'runRefused':
      return giveUpRefusedOf(job, why);
    case 'waitTimeout':
      return giveUpWaitOf(job, why);
  }
}

/** Names a job, so that its starts are counted by themselves. */
export function nameOf(job: Job): string {
  switch (job.kind) {
    case 'attempt':
      return `${job.messageId}~${job.attempt}`;
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
  }
}
