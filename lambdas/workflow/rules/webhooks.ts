/**
 * Webhooks of runs. A step creates a webhook with an id that cannot be guessed, because its URL needs no
 * token. A call ends a step that waits for this webhook. If no step waits yet, the run keeps the call, but
 * only a few.
 */
import { HttpError } from '../../error/httpError.ts';
import { eventDigest, type Snapshot } from './journal.ts';
import { checkCapacity } from './placing.ts';

/**
 * How many calls a run keeps for later waits: of one webhook, and of all. Each record of the run names all of
 * them.
 */
const mostCallsOfOne = 10;
const mostCalls = 100;
/** Bytes of all kept calls: a quarter of the run's list, and more than the longest call. */
const mostCallBytes = 8 * 1_024 * 1_024;

/** Whether a run keeps calls of a webhook, because one of its steps created it. */
export const keepsCallsOf = ({ webhooks }: Pick<Snapshot, 'webhooks'>, eventId: string): boolean =>
  webhooks.includes(eventDigest(eventId));

/**
 * @param bytes of the call; 0 if not known yet
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
  new HttpError(429, 'webhook_full', `${problem}, and accepts no more for now; call it again later.`);
