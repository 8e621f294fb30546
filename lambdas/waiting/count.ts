import type { Account } from '../account/account.ts';
import { now } from '../shared/clock.ts';
import { timeOfId } from '../shared/ids.ts';
import { matches, type Filter } from '../wire/filters.ts';
import type { Field, Filterable } from '../wire/filterFields.ts';
import type { MessageKind } from '../wire/states.ts';
import { openMessagesOf, type OpenMessage } from './openMessages.ts';

/** The states of a message that has not ended, in the order in which they occur. */
export const waitingKinds = ['delayed', 'waiting', 'retrying', 'open'] as const;
type WaitingKind = (typeof waitingKinds)[number];
export type PerKind = Readonly<Record<WaitingKind, number>>;

export const totalOf = (counts: PerKind): number => waitingKinds.reduce((sum, kind) => sum + counts[kind], 0);

const kindOf = ({ state, dueAt }: OpenMessage, time: number): WaitingKind => {
  if (state === 'RETRY') return 'retrying';
  if (state === 'ACTIVE') return 'open';
  return dueAt > time ? 'delayed' : 'waiting';
};

type OldestOpen = Pick<OpenMessage, 'since'> &
  Pick<Filterable, 'url' | 'labels'> & { readonly messageId: string };

type Wanted = Pick<Filter, 'values'> & Partial<Pick<Filter, 'fromDate' | 'toDate'>>;

/** Filters by values that subjects do not have. */
const ofMessages: ReadonlySet<string> = new Set<Field>(['messageId', 'state']);
/** Filters by values that only answers have. */
export const ofAnswers: ReadonlySet<string> = new Set<Field>(['responseStatus', 'error']);

/** The messages that match and are not expired. */
export function* wantedOf(
  messages: Iterable<readonly [messageId: string, message: OpenMessage]>,
  { values, fromDate = 0, toDate = Infinity }: Wanted,
) {
  const time = now();
  const hasDates = fromDate > 0 || toDate < Infinity;
  const ofSubject = new Map([...values].filter(([field]) => !ofMessages.has(field)));
  const ofMessage = new Map([...values].filter(([field]) => ofMessages.has(field)));
  const areWanted = new Map<OpenMessage['subject'], boolean>();
  for (const one of messages) {
    const [messageId, { subject, state, expiresAt }] = one;
    const isWanted = areWanted.get(subject) ?? matches({ values: ofSubject }, subject);
    areWanted.set(subject, isWanted);
    if (!isWanted || expiresAt <= time) continue;
    if (hasDates && !isBetween(timeOfId(messageId), fromDate, toDate)) continue;
    if (ofMessage.size > 0 && !matches({ values: ofMessage }, { ...subject, messageId, state })) continue;
    yield one;
  }
}

/**
 * Counts the messages that have not ended, including those of runs.
 *
 * @param until when to stop reading
 * @returns undefined if not all could be read in time
 */
export async function countWaiting(
  account: Account,
  wanted: Wanted,
  until: number,
): Promise<PerKind | undefined> {
  const messages = openMessagesOf(account);
  if (!(await messages.catchUp(until))) return undefined;
  const time = now();
  const counts = { delayed: 0, waiting: 0, retrying: 0, open: 0 };
  for (const [, message] of wantedOf(messages, wanted)) counts[kindOf(message, time)] += 1;
  return counts;
}

/** The messages that have waited longest for a later answer of their destination, including those of runs. */
export const oldestOpen = (account: Account, wanted: Wanted, most: number): readonly OldestOpen[] =>
  [...wantedOf(openMessagesOf(account), wanted)]
    .filter(([, { state }]) => state === 'ACTIVE')
    .sort(([, one], [, other]) => one.since - other.since)
    .slice(0, most)
    .map(
      ([
        messageId,
        {
          since,
          subject: { url, labels },
        },
      ]) => ({ messageId, since, url, labels }),
    );

/** Like {@link countWaiting}, without messages of runs, which are cancelled with their run. */
export const countCancellable = (account: Account, filter: Wanted, until: number) =>
  countWaiting(account, { ...filter, values: new Map(filter.values).set('kind', cancellable) }, until);

const cancellable: ReadonlySet<string> = new Set<MessageKind>(['published', 'callback']);

const isBetween = (time: number, from: number, to: number): boolean => time >= from && time <= to;
