/**
 * Calls of webhooks. Their URLs need no token, so the form of a call is checked first, then the run, and the account only if
 * the run has the webhook. All calls that find no webhook get the same answer, cost at most one read, and are not charged.
 */
import { checkBodySize } from '../message/bodies.ts';
import { isServed } from '../account/account.ts';
import { isActive, type RunKey } from './rules/journal.ts';
import { base64Length } from './runs/listBody.ts';
import { hookEvent, type HookRequest } from './requestedWait.ts';
import { givenCredentials } from '../account/givenCredentials.ts';
import { settings } from '../aws/settings.ts';
import { loadAccount } from '../account/accounts.ts';
import { loadSnapshot } from './store/journals.ts';
import { reportUsage } from '../usage/counter.ts';
import { withTrace } from '../request/traceContext.ts';
import { limitHook } from '../usage/rateLimit.ts';
import { giveEvent } from './waits/giveEvent.ts';
import { checkAddress, noWebhook, webhookOf } from './waits/webhook.ts';

interface HookCall {
  readonly accountId: string;
  readonly runId: string;
  readonly eventId: string;
  readonly request: HookRequest;
}

/**
 * Gives a request to a run as an event of its webhook. The oldest step that waits for the webhook ends with
 * it. If no step waits, the request is kept for the next one. A repeated request counts twice.
 *
 * @throws HttpError 404 if no active run has this webhook; 413; 429 if the run keeps too many calls, or above
 * the limits of the account's webhooks; 429 or 412 above other limits of the account
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
    const callBytes = base64Length(event.length);
    await giveEvent(account, key, {
      eventId,
      event,
      callBytes,
      known: found,
      noActiveRun: noWebhook,
      // The delivery that this call causes continues the call's trace.
      loadWait: async (seq) => {
        const wait = await webhook.loadWait(seq);
        return { ...wait, forwarded: withTrace(wait.forwarded, request.headers) };
      },
      // Refused before anything is sent or stored.
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

/** The first part of a webhook's URL is an account. Clients write the user of their token there. */
function accountOf(user: string): string {
  const given = givenCredentials();
  return user === given?.token.UserID ? given.accountId : user;
}
