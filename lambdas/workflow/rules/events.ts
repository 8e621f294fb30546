/**
 * Events and the waits of one run. A run never has a wait and a stored event for it at once: a wait that finds an event
 * takes it and never begins, and an event that finds a wait ends it and is not stored. Each reads the run's last record, and
 * writes its own right behind that one; so of a wait and a notification that come together, the second sees the first.
 */
import { eventDigest, isActive, type Snapshot } from './journal.ts';
import { refusedSubmission } from './refusals.ts';
import type { StepType } from '../../wire/states.ts';

/** Each record of a run names all of these, and a record has at most 400 KB. */
const mostStoredEvents = 100;
const mostOpenWaits = 1_000;

type Waits = Snapshot['waits'];

/** The waits for an event, in the order in which they began. */
export const waitsFor = ({ waits }: Pick<Snapshot, 'waits'>, eventId: string): Waits => {
  const digest = eventDigest(eventId);
  return waits.filter((wait) => wait.digest === digest);
};

/**
 * Finds the oldest stored event.
 *
 * @param stepType the type of the step that waits: calls of a webhook are for steps that wait for one
 */
export const oldestEvent = (
  { events }: Pick<Snapshot, 'events'>,
  eventId: string,
  stepType: StepType,
): Snapshot['events'][number] | undefined => {
  const digest = eventDigest(eventId);
  return events.find(
    (event) => event.digest === digest && (event.callBytes === undefined || stepType === 'WaitForWebhook'),
  );
};

/**
 * Tells whether a wait goes on.
 *
 * @param seq its place in the journal; all runs of an id count their records on
 */
export const isWaiting = (snapshot: Snapshot | undefined, seq: number): snapshot is Snapshot =>
  isActive(snapshot) && snapshot.waits.some((wait) => wait.seq === seq);

/** @throws HttpError 412 */
export function checkCapacityForEvent({ events }: Pick<Snapshot, 'events'>): void {
  // Calls of webhooks, which need no token, have limits of their own: see `webhooks.ts`.
  const notifications = events.filter(({ callBytes }) => callBytes === undefined).length;
  if (notifications < mostStoredEvents) return;
  throw refusedSubmission(
    `The run keeps ${notifications} events that it has not waited for yet; allowed are ${mostStoredEvents}.`,
  );
}

/** @throws HttpError 412 */
export function checkCapacityForWait({ waits }: Pick<Snapshot, 'waits'>): void {
  if (waits.length < mostOpenWaits) return;
  throw refusedSubmission(`The run waits for ${waits.length} events at once; allowed are ${mostOpenWaits}.`);
}
