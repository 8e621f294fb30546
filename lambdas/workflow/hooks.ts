/**
 * Calls of webhooks. Whoever knows the URL of one may call it: no token is asked for. So a call is looked at in this order: its
 * form, then the run, and the account only when the run has such a webhook. All that finds none is answered alike, costs one read
 * at most, and is charged to nobody.
 */
import { checkBodySize } from '../message/bodies.ts';
import { isServed } from '../account/account.ts';
import { longestAccountId } from '../account/credentials.ts';
import { notFound, type HttpError } from '../error/httpError.ts';
import { isText } from '../shared/text.ts';
import { waitsFor } from './rules/events.ts';
import type { Snapshot, WaitRecord } from './rules/journal.ts';
import { checkRoom } from './rules/placing.ts';
import { hasEnded, isRunId } from './run.ts';
import { base64Bytes, hookEvent, waitResultBytes, type HookRequest } from './waiting.ts';
import { checkRoomForCall, isWebhookId, keepsCallsOf } from './rules/webhooks.ts';
import { givenCredentials } from '../account/givenCredentials.ts';
import { settings } from '../aws/settings.ts';
import { loadAccount } from '../account/accounts.ts';
import { loadSnapshot, type RunKey } from './store/journals.ts';
import { reportUsage } from '../usage/counter.ts';
import { limitHook } from '../usage/rateLimit.ts';
import { loadWait } from './waits/endWait.ts';
import { giveEvent } from './waits/giveEvent.ts';

/** A request to the webhook of a run. */
export interface HookCall {
  readonly accountId: string;
  readonly runId: string;
  readonly eventId: string;
  readonly request: HookRequest;
}

/** The refusal of every call that finds no webhook: it does not tell whether there is such an account or run. */
const noWebhook = (): HttpError => notFound('webhook_not_found', 'There is no such webhook.');

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
  if (!isText(accountId, longestAccountId) || accountId.includes('#')) throw noWebhook();
  if (!isRunId(runId) || !isWebhookId(eventId)) throw noWebhook();
  const key: RunKey = { accountId, runId };
  const found = await loadSnapshot(key);
  if (found === undefined || hasEnded(found.state)) throw noWebhook();
  const webhook = webhookOf(key, eventId);
  if ((await webhook.findWait(found)) === undefined) webhook.checkKept(found, 0);

  const account = await loadAccount(accountId, true);
  if (account === undefined || !isServed(account) || account.region !== settings.region) throw noWebhook();
  checkBodySize(account, request.body);
  const admitted = await limitHook(account, request.body.length);
  try {
    const event = hookEvent(request);
    const callBytes = base64Bytes(event.length);
    await giveEvent(account, key, {
      eventId,
      event,
      callBytes,
      known: found,
      noActiveRun: noWebhook,
      loadWait: webhook.loadWait,
      findWait: async (head) => {
        const place = await webhook.findWait(head);
        if (place === undefined) return undefined;
        // Before anything is sent or stored for it.
        const bodyBytes = waitResultBytes(place.wait.step, eventId, event.length);
        checkRoom(head, [{ bodyBytes }]);
        return place.seq;
      },
      checkKept: (head) => {
        webhook.checkKept(head, callBytes);
      },
    });
  } catch (error) {
    admitted.giveBack();
    throw error;
  }
  admitted.count();
  await reportUsage(account);
}

/** The account of the user that a token names, as it stands in the URLs that clients make. */
function accountOf(user: string): string {
  const given = givenCredentials();
  return user === given?.token.UserID ? given.accountId : user;
}

/** Looks for what a webhook is to a run. Each wait is read once. */
function webhookOf(key: RunKey, eventId: string) {
  const waits = new Map<number, WaitRecord>();
  const load = async (seq: number): Promise<WaitRecord> => {
    const wait = waits.get(seq) ?? (await loadWait(key, seq));
    waits.set(seq, wait);
    return wait;
  };
  return {
    loadWait: load,
    /** Finds the oldest step that waits for the webhook. Others may wait for an event that is called the same. */
    findWait: async (
      head: Snapshot,
    ): Promise<{ readonly seq: number; readonly wait: WaitRecord } | undefined> => {
      for (const { seq } of waitsFor(head, eventId)) {
        const wait = await load(seq);
        if (wait.step.stepType === 'WaitForWebhook') return { seq, wait };
      }
      return undefined;
    },
    /** @throws HttpError 404 where the run has no such webhook, 429 where it keeps too many calls */
    checkKept: (head: Snapshot, callBytes: number): void => {
      if (!keepsCallsOf(head, eventId)) throw noWebhook();
      checkRoomForCall(head, eventId, callBytes);
    },
  };
}
