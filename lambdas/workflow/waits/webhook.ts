import { longestAccountId } from '../../account/credentials.ts';
import { notFound, type HttpError } from '../../error/httpError.ts';
import { isText } from '../../shared/text.ts';
import { waitsFor } from '../rules/events.ts';
import type { RunKey, Snapshot, WaitRecord } from '../rules/journal.ts';
import { checkCapacity } from '../rules/placing.ts';
import { checkCapacityForCall, keepsCallsOf } from '../rules/webhooks.ts';
import { isWebhookId } from '../rules/step.ts';
import { isRunId } from '../run.ts';
import { waitResultBytes } from '../requestedWait.ts';
import { loadWait, type PlacedWait } from './endWait.ts';

/** The answer to every call without a webhook. It hides whether the account or run exists. */
export const noWebhook = (): HttpError => notFound('webhook_not_found', 'There is no such webhook.');

/** @throws HttpError 404 for an address that no webhook can have */
export function checkAddress({ accountId, runId }: RunKey, eventId: string): void {
  if (!isText(accountId, longestAccountId) || accountId.includes('#')) throw noWebhook();
  if (!isRunId(runId) || !isWebhookId(eventId)) throw noWebhook();
}

export function webhookOf(key: RunKey, eventId: string) {
  const waits = new Map<number, WaitRecord>();
  const load = async (seq: number): Promise<WaitRecord> => {
    const wait = waits.get(seq) ?? (await loadWait(key, seq));
    waits.set(seq, wait);
    return wait;
  };
  /** Steps of other types may wait for an event of the same name. */
  const findWait = async (snapshot: Snapshot): Promise<PlacedWait | undefined> => {
    for (const { seq } of waitsFor(snapshot, eventId)) {
      const wait = await load(seq);
      if (wait.step.stepType === 'WaitForWebhook') return { seq, wait };
    }
    return undefined;
  };
  return {
    loadWait: load,
    findWait,
    /** @throws HttpError 412 if an event of this size does not fit into the run */
    findWaitFor: async (snapshot: Snapshot, eventBytes: number): Promise<number | undefined> => {
      const place = await findWait(snapshot);
      if (place === undefined) return undefined;
      const bodyBytes = waitResultBytes(place.wait.step, eventId, eventBytes);
      checkCapacity(snapshot, [{ bodyBytes }]);
      return place.seq;
    },
    /** @throws HttpError 404 if the run has no such webhook, 429 if it keeps too many calls */
    checkKept: (snapshot: Snapshot, callBytes: number): void => {
      if (!keepsCallsOf(snapshot, eventId)) throw noWebhook();
      checkCapacityForCall(snapshot, eventId, callBytes);
    },
  };
}
