/** The failure callback of an account, which is told of what fails for good without a failure callback of its own. */
import type { Account } from '../account/account.ts';
import type { DestinationResponse } from '../destination/response.ts';
import { kindOf } from '../message/kinds.ts';
import type { AttemptState, Message } from '../message/message.ts';

/**
 * Finds the URL that is told when a message fails. A run is told of as a whole, by the workflow; and the failure of a callback is
 * told to nobody: the account's own would go in circles.
 */
export const accountCallbackOf = (
  { failureCallback, workflow, callbackOf }: Message,
  account: Account,
): string | undefined =>
  failureCallback === undefined && workflow === undefined && callbackOf === undefined
    ? account.failureCallback
    : undefined;

/**
 * Finds the URL that is told after an attempt: of a message that has failed, or of a run whose endpoint was told of its failure, and
 * has no failure function.
 */
export async function accountCallbackAfter(
  message: Message,
  account: Account,
  state: AttemptState,
  response: DestinationResponse,
): Promise<string | undefined> {
  const { failureCallback } = account;
  if (state === 'FAILED') return accountCallbackOf(message, account);
  if (state !== 'DELIVERED' || failureCallback === undefined || message.url === failureCallback) {
    return undefined;
  }
  const own = await kindOf(message);
  return own?.kind.isUntold(message, own.part, response) === true ? failureCallback : undefined;
}
