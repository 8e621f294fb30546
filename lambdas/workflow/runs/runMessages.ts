/** The messages that deliver a run's entries. They have no body of their own: it is made of the journal as they are delivered. */
import { limitsOf, type Account } from '../../account/account.ts';
import { now } from '../../shared/clock.ts';
import { isDeliverable } from '../../destination/destination.ts';
import { expiryOf, type Message } from '../../message/message.ts';
import { attemptJob } from '../../job/job.ts';
import type { Snapshot, ListedEntry, RunStart } from '../rules/journal.ts';
import type { StoredBody } from '../../message/bodies.ts';
import { storedMessages } from '../../message/list.ts';
import { putMessages } from '../../message/messages.ts';
import type { RunKey } from '../store/journals.ts';
import { sendAll } from '../../job/send.ts';
import { ensureKeys } from '../../lane/ensureKeys.ts';

/** A run as its messages need it. */
export interface OpenRun {
  readonly key: RunKey;
  readonly head: Pick<Snapshot, 'createdAt' | 'startSeq'>;
  readonly start: RunStart;
}

/** The body of a message that delivers the list: it is made as it is delivered. */
export const emptyBody: StoredBody = { at: 'here', bytes: new Uint8Array(), deflated: false };

/** Makes the message that delivers the list up to an entry. */
export function listMessage(
  { key, head, start }: OpenRun,
  account: Account,
  entry: Pick<ListedEntry, 'messageId' | 'url' | 'createdAt' | 'notBefore' | 'settings'>,
): Message {
  const { accountId, runId } = key;
  const { createdAt, startSeq } = head;
  const settings = { ...start.settings, ...entry.settings };
  const { messageId, notBefore } = entry;
  return {
    ...settings,
    // Earlier releases took an invoke whose URL is none: its result goes to the URL that the run was started with.
    url: isDeliverable(entry.url) ? entry.url : start.url,
    method: 'POST',
    // They are made as it is delivered, as its body is.
    headers: [],
    scheduleId: start.scheduleId,
    messageId,
    accountId,
    prefix: start.prefix,
    createdAt: entry.createdAt,
    notBefore,
    callerIp: start.callerIp,
    workflow: { role: 'list', runId, createdAt, startSeq },
    expiresAt: expiryOf({ ...settings, notBefore }, limitsOf(account).max_dlq_retention_time_milis),
  };
}

/**
 * Stores and sends the messages that deliver entries.
 *
 * @param isAgain as {@link sendMessages} takes it
 * @throws when that has to be done again
 */
export const deliverEntries = (
  run: OpenRun,
  account: Account,
  entries: readonly ListedEntry[],
  isAgain: boolean,
): Promise<void> =>
  sendLists(
    entries.map((entry) => listMessage(run, account, entry)),
    isAgain,
  );

/** Stores and sends messages that deliver entries, of whatever runs, as {@link sendMessages} does. */
export const sendLists = (
  messages: readonly Message[],
  isAgain: boolean,
  beside?: () => Promise<void>,
): Promise<void> =>
  sendMessages(
    messages.map((message) => ({ message, stored: emptyBody })),
    isAgain,
    beside,
  );

interface StoredMessage {
  readonly message: Message;
  readonly stored: StoredBody;
}

/**
 * Sends the first attempts of messages of runs, and stores the messages. In this order: a message whose row is there has been
 * sent, so whoever does this again leaves it alone, and no attempt is made beside one that is in flight.
 *
 * @param isAgain whether this may have been done before, by a process that died while it did
 * @param beside more that is done before the messages are stored: their rows are there once it is done, too
 * @throws when that has to be done again
 */
export async function sendMessages(
  messages: readonly StoredMessage[],
  isAgain: boolean,
  beside?: () => Promise<void>,
): Promise<void> {
  const stored = isAgain ? await storedMessages(messages.map(({ message }) => message)) : new Set<string>();
  const left = messages.filter(({ message }) => !stored.has(message.messageId));
  for (const { message } of left) await ensureKeys(message);
  // A worker waits for the row of a message that is new, or whose work is.
  const madeAt = isAgain ? now() : undefined;
  const outcomes = await Promise.allSettled([
    beside?.(),
    sendAll(left, ({ message }) => ({
      job: { ...attemptJob(message, 0), madeAt },
      dueAt: message.notBefore,
    })),
  ]);
  // Both have ended: nothing goes on behind an answer.
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
  await putMessages(left);
}
