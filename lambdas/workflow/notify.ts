/** Finds out from the path of a notification whom it is for. */
import type { Account } from '../account/account.ts';
import { isRunId } from './run.ts';
import { loadHead } from './store/journals.ts';
import { notify } from './waits/notify.ts';
import { notifyRun } from './waits/notifyRun.ts';

/**
 * Notifies one run, where the first of several segments is the id of one, or else all that wait for the event. An event's id
 * may have slashes, and clients write it into the path as it is.
 *
 * @param segments of the path, decoded
 * @throws HttpError
 */
export async function notifyAt(
  account: Account,
  segments: readonly string[],
  body: Uint8Array,
): ReturnType<typeof notify> {
  const [runId = '', ...rest] = segments;
  const mayBeOfRun = rest.length > 0 && isRunId(runId);
  const isOfRun = mayBeOfRun && (await loadHead({ accountId: account.id, runId })) !== undefined;
  return isOfRun
    ? notifyRun(account, { runId, eventId: rest.join('/') }, body)
    : notify(account, segments.join('/'), body);
}
