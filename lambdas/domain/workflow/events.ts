/**
 * Events and the waits of one run. A run never has a wait and a stored event of one id at once: a wait that finds an event
 * takes it and never begins, and an event that finds a wait ends it and is not stored. Each looks at the run's last record, and
 * writes its own right behind that one; so of a wait and a notification that come together, the second sees the first.
 */
import { quote, type HttpError } from '../httpError.ts';
import { eventDigest, type Head } from './journal.ts';
import { refusedSubmission } from './refusals.ts';
import { hasEnded } from './run.ts';

const longestEventId = 256;
/** A run's every record names all of these, and a record has at most 400 KB. */
const mostStoredEvents = 100;
const mostOpenWaits = 1_000;

/**
 * Checks the id of an event.
 *
 * @param refuse makes the refusal. Endpoints of runs wait and notify, and take 400 for the end of their run: so it has the status
 * 412, unless nobody but a person asks
 */
export function checkEventId(
  eventId: string,
  refuse: (message: string) => HttpError = refusedSubmission,
): void {
  if (eventId !== '' && eventId.length <= longestEventId) return;
  throw refuse(`The id of the event is ${quote(eventId)}; allowed are 1 to ${longestEventId} characters.`);
}

type Waits = Head['waits'];

/** The wait for an event that began first. */
export const oldestWait = ({ waits }: Pick<Head, 'waits'>, eventId: string): Waits[number] | undefined => {
  const digest = eventDigest(eventId);
  return waits.find((wait) => wait.digest === digest);
};

/** The event that came first of those that nobody has waited for yet. */
export const oldestEvent = (
  { events }: Pick<Head, 'events'>,
  eventId: string,
): Head['events'][number] | undefined => {
  const digest = eventDigest(eventId);
  return events.find((event) => event.digest === digest);
};

/**
 * Tells whether a wait goes on.
 *
 * @param seq its place in the journal, which no other record of its id has, in whatever run
 */
export const isWaiting = (head: Head | undefined, seq: number): head is Head =>
  head !== undefined && !hasEnded(head.state) && head.waits.some((wait) => wait.seq === seq);

/** @throws HttpError 412 */
export function checkRoomForEvent({ events }: Pick<Head, 'events'>): void {
  if (events.length < mostStoredEvents) return;
  throw refusedSubmission(
    `The run keeps ${events.length} events that it has not waited for yet; allowed are ${mostStoredEvents}.`,
  );
}

/** @throws HttpError 412 */
export function checkRoomForWait({ waits }: Pick<Head, 'waits'>): void {
  if (waits.length < mostOpenWaits) return;
  throw refusedSubmission(`The run waits for ${waits.length} events at once; allowed are ${mostOpenWaits}.`);
}
