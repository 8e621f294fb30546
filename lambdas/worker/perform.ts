import type { GiveUpReason } from '../job/redelivery.ts';
import { isDeleted, type Account } from '../account/account.ts';
import type { RunEndJob, RunStartJob, WaitTimeoutJob, Job } from '../job/job.ts';
import { loadAccount } from '../account/accounts.ts';
import { plugInRuns } from '../message/kinds.ts';
import { deliver } from '../delivery/deliver.ts';
import { giveUpAttempt } from '../delivery/giveUp.ts';
import { pump } from '../lane/pump.ts';

plugInRuns(async () => (await import('../workflow/forWorkers.ts')).messageKind);

/**
 * Does a piece of work of any kind.
 *
 * @param isAgain whether it has been handed out before
 * @throws when it has to be done again
 */
export function perform(work: Job, { isAgain }: { readonly isAgain: boolean }): Promise<void> {
  switch (work.kind) {
    case 'attempt':
      return deliver(work, isAgain);
    case 'pump':
      return pump(work);
    case 'runStart':
      return lookAtStartOf(work);
    case 'runEnd':
      return followUpRunEnd(work);
    case 'waitTimeout':
      return lookAtWaitOf(work);
  }
}

async function ownerOfRun({ accountId }: RunEndJob): Promise<Account | undefined> {
  const account = await loadAccount(accountId, false);
  return account === undefined || isDeleted(account) ? undefined : account;
}

async function lookAtStartOf(work: RunStartJob): Promise<void> {
  const { checkStart } = await import('../workflow/forWorkers.ts');
  await checkStart(work);
}

async function giveUpStartOf(work: RunStartJob, why: GiveUpReason): Promise<void> {
  const { giveUpStart } = await import('../workflow/forWorkers.ts');
  await giveUpStart(work, why);
}

async function followUpRunEnd(work: RunEndJob): Promise<void> {
  const account = await ownerOfRun(work);
  if (account === undefined) return;
  const { followUpEnd } = await import('../workflow/forWorkers.ts');
  await followUpEnd(account, work);
}

async function giveUpRunEndOf(work: RunEndJob, why: GiveUpReason): Promise<void> {
  const account = await ownerOfRun(work);
  if (account === undefined) return;
  const { giveUpRunEnd } = await import('../workflow/forWorkers.ts');
  await giveUpRunEnd(account, work, why);
}

async function lookAtWaitOf(work: WaitTimeoutJob): Promise<void> {
  const { checkWait } = await import('../workflow/forWorkers.ts');
  await checkWait(work);
}

async function giveUpWaitOf(work: WaitTimeoutJob, why: GiveUpReason): Promise<void> {
  const { giveUpWait } = await import('../workflow/forWorkers.ts');
  await giveUpWait(work, why);
}

/**
 * Ends work that kills its worker, or that the service itself fails with again and again.
 *
 * @throws when that has to be done again
 */
export function giveUp(work: Job, why: GiveUpReason): Promise<void> {
  switch (work.kind) {
    case 'attempt':
      return giveUpAttempt(work, why);
    case 'pump':
      // A pump is never given up: what is in the line would wait for ever.
      return pump(work);
    case 'runStart':
      return giveUpStartOf(work, why);
    case 'runEnd':
      return giveUpRunEndOf(work, why);
    case 'waitTimeout':
      return giveUpWaitOf(work, why);
  }
}

/** Names a piece of work, so that its starts are counted by themselves. */
export function nameOf(work: Job): string {
  switch (work.kind) {
    case 'attempt':
      return `${work.messageId}~${work.attempt}`;
    case 'pump':
      return `pump~${work.accountId}~${work.lane}~${work.name}`;
    case 'runStart':
      return `runStart~${work.accountId}~${work.messageId}~${work.runId}`;
    case 'runEnd':
      return `runEnd~${work.accountId}~${work.runId}~${work.createdAt}`;
    case 'waitTimeout':
      return `wait~${work.accountId}~${work.seq}~${work.runId}`;
  }
}
