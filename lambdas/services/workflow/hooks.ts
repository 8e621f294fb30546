/** Requests to webhooks. Whoever knows the URL of one may send them: no token is asked for. */
import { checkBodySize } from '../../domain/message/bodySize.ts';
import { isServed } from '../../domain/account/account.ts';
import { notFound } from '../../domain/httpError.ts';
import { hookEvent, type HookRequest } from '../../domain/workflow/waiting.ts';
import { loadAccount } from '../../stores/account/accounts.ts';
import { settings } from '../../settings.ts';
import { reportUsage } from '../usage/counter.ts';
import { admitCall } from '../usage/rateLimit.ts';
import { giveEvent } from './notifyRun.ts';

/** A request to the webhook of a run. */
export interface HookCall {
  readonly accountId: string;
  readonly runId: string;
  readonly eventId: string;
  readonly request: HookRequest;
}

/** An account's id is no longer: see `readToken`. */
const longestAccountId = 100;

/**
 * Gives a run the request as its event.
 *
 * @throws HttpError 404 where there is no such account or active run; else as `notifyRun` does
 * @throws RunBusy
 */
export async function callHook({ accountId, runId, eventId, request }: HookCall): Promise<void> {
  const isId = accountId !== '' && accountId.length <= longestAccountId;
  const account = isId ? await loadAccount(accountId, true) : undefined;
  if (account === undefined || !isServed(account) || account.region !== settings.region) {
    throw notFound('webhook_not_found', 'There is no such webhook.');
  }
  try {
    await admitCall(account, request.body.length);
    checkBodySize(account, request.body);
    await giveEvent(account, { runId, eventId }, hookEvent(request));
  } finally {
    await reportUsage(account);
  }
}
