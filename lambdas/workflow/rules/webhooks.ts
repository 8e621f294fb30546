/**
 * Webhooks of runs. A step of a run creates one, with an id that nobody can guess; any caller who knows its URL may call it,
 * without a token. So a call ends only the wait of a step that waits for this webhook, and a run keeps few calls that come
 * before it waits for them.
 */
import { HttpError } from '../../error/httpError.ts';
import { eventDigest, type Snapshot } from './journal.ts';
import { checkCapacity } from './placing.ts';

/** Calls that a run keeps until it waits for them: of one webhook, and of all. Each of its records names all of them. */
const mostCallsOfOne = 10;
const mostCalls = 100;
/** Bytes that kept calls may come to in the run's list: a quarter of it, and more than the longest call has there. */
const mostCallBytes = 8 * 1_024 * 1_024;

/**
 * Tells whether a run keeps calls of a webhook until it waits for them. Where an earlier version of the service has started the
 * run, its webhooks were not noted, so any may be one of its own.
 */
export const keepsCallsOf = ({ webhooks }: Pick<Snapshot, 'webhooks'>, eventId: string): boolean =>
  webhooks === undefined || webhooks.includes(eventDigest(eventId));

/**
 * Checks that a run may keep one more call of a webhook.
 *
 * @param bytes of the call in the run's list; 0 where they are not known yet
 * @throws HttpError 429
 */
export function checkCapacityForCall(
  { events, bodyBytes, entries }: Pick<Snapshot, 'events' | 'bodyBytes' | 'entries'>,
  eventId: string,
  bytes: number,
): void {
  const digest = eventDigest(eventId);
  const kept = events.filter(({ callBytes }) => callBytes !== undefined);
  const ofThis = kept.filter((call) => call.digest === digest);
  const keptBytes = kept.reduce((sum, { callBytes = 0 }) => sum + callBytes, 0);
  if (ofThis.length >= mostCallsOfOne) {
    throw full(`The webhook keeps ${ofThis.length} calls that its run has not waited for yet`);
  }
  if (kept.length >= mostCalls || keptBytes + bytes > mostCallBytes) {
    throw full(
      `The run keeps ${kept.length} calls of webhooks, of ${keptBytes} bytes, that it has not waited for yet`,
    );
  }
  checkCapacity({ bodyBytes: bodyBytes + keptBytes, entries: entries + kept.length }, [{ bodyBytes: bytes }]);
}

const full = (problem: string): HttpError =>
  new HttpError(429, 'webhook_full', `${problem}, and takes no more for now; call it again later.`);
