import type { GiveUpReason } from '../../domain/work/redelivery.ts';
import { isDeleted } from '../../domain/account/account.ts';
import type { RunEndWork, RunStartWork, WaitTimeoutWork, Work } from '../../domain/work/work.ts';
import { loadAccount } from '../../stores/account/accounts.ts';
import { deliver } from '../delivery/deliver.ts';
import { giveUpAttempt } from '../delivery/giveUp.ts';
import { pump } from '../lane/pump.ts';

/**
 * Does a piece of work of any kind.
 *
 * @param isAgain whether it has been handed out before
 * @throws when it has to be done again
 */
export function perform(work: Work, { isAgain }: { readonly isAgain: boolean }): Promise<void> {
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

async function lookAtStartOf(work: RunStartWork): Promise<void> {
  const { lookAtStart } = await import('../workflow/forWorkers.ts');
  await lookAtStart(work);
}

async function followUpRunEnd(work: RunEndWork): Promise<void> {
  const account = await loadAccount(work.accountId, false);
  if (account === undefined || isDeleted(account)) return;
  const { followUpEnd } = await import('../workflow/forWorkers.ts');
  await followUpEnd(account, work);
}

async function lookAtWaitOf(work: WaitTimeoutWork): Promise<void> {
  const { lookAtWait } = await import('../workflow/forWorkers.ts');
  await lookAtWait(work);
}

/**
 * Ends work that kills its worker, or that the service itself fails with again and again.
 *
 * @throws when that has to be done again
 */
export function giveUp(work: Work, why: GiveUpReason): Promise<void> {
  switch (work.kind) {
    case 'attempt':
      return giveUpAttempt(work, why);
    case 'pump':
      // A pump is never given up: what is in the line would wait for ever.
      return pump(work);
    case 'runStart':
      // Nor is the start of a run: it would be shown as one that goes on, and never would.
      return lookAtStartOf(work);
    case 'runEnd':
      // Nor is the end of a run: another run waits for it.
      return followUpRunEnd(work);
    case 'waitTimeout':
      // Nor is this: the run would wait for ever.
      return lookAtWaitOf(work);
  }
}

/** Names a piece of work, so that its starts are counted by themselves. */
export function nameOf(work: Work): string {
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
