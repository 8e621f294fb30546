/**
 * Calls of webhooks. Any caller who knows the URL of one may call it, without a token. So a call is checked in this order: its
 * form, then the run, and the account only when the run has such a webhook. Calls that find no webhook are all answered alike,
 * cost one read at most, and are charged to nobody.
 */
import { checkBodySize } from '../message/bodies.ts';
import { isServed } from '../account/account.ts';
import { isActive, type RunKey } from './rules/journal.ts';
import { base64Bytes, hookEvent, type HookRequest } from './waiting.ts';
import { givenCredentials } from '../account/givenCredentials.ts';
import { settings } from '../aws/settings.ts';
import { loadAccount } from '../account/accounts.ts';
import { loadSnapshot } from './store/journals.ts';
import { reportUsage } from '../usage/counter.ts';
import { withTrace } from '../request/traceContext.ts';
import { limitHook } from '../usage/rateLimit.ts';
import { giveEvent } from './waits/giveEvent.ts';
import { checkAddress, noWebhook, webhookOf } from './waits/webhook.ts';

/** A request to the webhook of a run. */
export interface HookCall {
  readonly accountId: string;
  readonly runId: string;
  readonly eventId: string;
  readonly request: HookRequest;
}

/**
 * Gives a run the request as the event of its webhook: the oldest step that waits for the webhook ends with it; where none does,
 * the call is kept for the next one. Sent twice, it counts twice.
 *
 * @throws HttpError 404 where no active run has such a webhook; 413; 429 where the run keeps too many calls, or above the limits
 * of the account's webhooks; 429 or 412 above other limits of the account
 * @throws RunBusy
 */
export async function callHook({ accountId: user, runId, eventId, request }: HookCall): Promise<void> {
  const accountId = accountOf(user);
  const key: RunKey = { accountId, runId };
  checkAddress(key, eventId);
  const found = await loadSnapshot(key);
  if (!isActive(found)) throw noWebhook();
  const webhook = webhookOf(key, eventId);
  if ((await webhook.findWait(found)) === undefined) webhook.checkKept(found, 0);

  const account = await loadAccount(accountId, true);
  if (account === undefined || !isServed(account) || account.region !== settings.region) throw noWebhook();
  checkBodySize(account, request.body);
  const granted = await limitHook(account, request.body.length);
  try {
    const event = hookEvent(request);
    const callBytes = base64Bytes(event.length);
    await giveEvent(account, key, {
      eventId,
      event,
      callBytes,
      known: found,
      noActiveRun: noWebhook,
      // The delivery that the call gives rise to belongs to the trace of the call.
      loadWait: async (seq) => {
        const wait = await webhook.loadWait(seq);
        return { ...wait, forwarded: withTrace(wait.forwarded, request.headers) };
      },
      // Its size is checked before anything is sent or stored for it.
      findWait: (snapshot) => webhook.findWaitFor(snapshot, event.length),
      checkKept: (snapshot) => {
        webhook.checkKept(snapshot, callBytes);
      },
    });
  } catch (error) {
    granted.giveBack();
    throw error;
  }
  granted.count();
  await reportUsage(account);
}

/** The account of the user that a token names, as it stands in the URLs that clients make. */
function accountOf(user: string): string {
  const given = givenCredentials();
  return user === given?.token.UserID ? given.accountId : user;
}
