/** While a region is drained, nothing new comes in; what is there is finished, looked at, cancelled and retried as always. */
import { HttpError } from '../error/httpError.ts';
import type { Account } from './account.ts';

/**
 * To be called for what begins something: a message, a schedule, a run. What goes on with something, such as a step of a run, or
 * a retry of a dead letter, is taken, because it has to end here.
 *
 * @throws HttpError 503
 */
export function refuseWhileDraining({ isDraining, region }: Pick<Account, 'isDraining' | 'region'>): void {
  if (isDraining !== true) return;
  throw new HttpError(
    503,
    'region_draining',
    `The region ${region} is being emptied and takes nothing new; nothing was accepted.`,
  );
}
