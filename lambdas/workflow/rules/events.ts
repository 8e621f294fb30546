/**
 * Events and waits of one run. A run never has a wait and a stored event for it at the same time. A wait uses
 * a stored event if there is one; an event ends a wait if there is one, and is stored otherwise. Each writes
 * its record directly after the last one that it read, so the later of two concurrent ones sees the first.
 */
import { eventDigest, isActive, type Snapshot } from './journal.ts';
import { refusedSubmission } from './refusals.ts';
import type { StepType } from '../../wire/states.ts';

/** Each record of a run names all of these, and has at most 400 KB. */
const mostStoredEvents = 100;
const mostOpenWaits = 1_000;

type Waits = Snapshot['waits'];

/** The open waits for an event, in the order in which they began. */
export const waitsFor = ({ waits }: Pick<Snapshot, 'waits'>, eventId: string): Waits => {
  const digest = eventDigest(eventId);
  return waits.filter((wait) => wait.digest === digest);
};

/** @param stepType of the waiting step: webhook calls are only for steps that wait for a webhook */
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

/** @param seq the wait's place in the journal. The places of all runs of an id are different */
export const isWaiting = (snapshot: Snapshot | undefined, seq: number): snapshot is Snapshot =>
  isActive(snapshot) && snapshot.waits.some((wait) => wait.seq === seq);

export function checkCapacityForEvent({ events }: Pick<Snapshot, 'events'>): void {
  // Calls of webhooks are left out. They have separate limits: see `webhooks.ts`.
  const notifications = events.filter(({ callBytes }) => callBytes === undefined).length;
  if (notifications < mostStoredEvents) return;
  throw refusedSubmission(
    `The run keeps ${notifications} events that it has not waited for yet; allowed are ${mostStoredEvents}.`,
  );
}

export function checkCapacityForWait({ waits }: Pick<Snapshot, 'waits'>): void {
  if (waits.length < mostOpenWaits) return;
  throw refusedSubmission(`The run waits for ${waits.length} events at once; allowed are ${mostOpenWaits}.`);
}
