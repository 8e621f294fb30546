import { accountLifetimeMs, isDeleted, isServed, limitsOf, type Account } from '../domain/account.ts';
import { now, secondMs } from '../domain/clock.ts';
import { signingKeysOf } from '../domain/credentials.ts';
import { headerName, type Header } from '../domain/dialect.ts';
import { withDefaults } from '../domain/forwarding.ts';
import { derivedId, timeOfId } from '../domain/ids.ts';
import { callbackBody } from '../domain/callback.ts';
import { expiryOf, type Attempt, type CallbackSettings, type Message } from '../domain/message.ts';
import { outcomeOf, type DestinationResponse, type Outcome } from '../domain/outcome.ts';
import type { Pointer } from '../domain/pointer.ts';
import { noRedaction, type Redaction } from '../domain/redaction.ts';
import { signatureHeaders } from '../domain/signature.ts';
import { settings } from '../settings.ts';
import { loadAccount } from '../stores/accounts.ts';
import { loadBody, storeBody } from '../stores/bodies.ts';
import { putDeadLetter } from '../stores/dlq.ts';
import { masterSecret } from '../stores/secrets.ts';
import { isEnded, loadMessage, putMessage, recordAttempt, type MessageHistory } from '../stores/messages.ts';
import { createDeliveryClient } from '../transport/deliveryClient.ts';
import { log, urlForLog } from '../transport/log.ts';
import { sendAgain, sendPointer } from '../transport/queue.ts';
import { cached } from './cached.ts';
import { allowedDestinations } from './destinations.ts';
import { keepDlqSize } from './dlqSize.ts';
import { takeSlot, type Slot } from './flight.ts';
import { hold, letSomeGo, waitForRoom } from './hold.ts';
import { countFollowing } from './usage.ts';

/**
 * Delivery of one message, one attempt at a time.
 *
 * An attempt is made, its callbacks are written down, the attempt is recorded, and what follows from the record is
 * done: the next pointer, the callbacks' pointers, the dead letter. The record is a conditional write, and everything
 * after it can be done again from it. So whenever a worker dies, its pointer comes back and finds either no record,
 * and makes the attempt again, or a record, and does again what follows. Nothing is lost; what may happen twice is
 * the request.
 */

const request = createDeliveryClient(allowedDestinations);

/**
 * An account changes rarely, and its next signing key is known in advance: a delivery may see a change late. Of one that is
 * not served, each message asks anew.
 */
const accounts = cached(accountLifetimeMs, (id: string) => loadAccount(id, false), isServed);

/** A request to the API ends after 29 s: a row that is not there by then will not come. */
const youngMs = 30 * secondMs;

/** Raised to give a pointer back to its queue. */
class ComeBack extends Error {}

/**
 * Makes the attempt that a pointer stands for, unless it was made or is not due.
 *
 * @throws when the pointer must come back: nothing was decided yet
 */
export async function deliver(pointer: Pointer): Promise<void> {
  const history = await loadMessage(pointer);
  if (history === undefined) {
    await lookAgain(pointer);
    return;
  }
  const { message, attempts } = history;
  const recorded = attempts.find((attempt) => attempt.number === pointer.attempt);
  if (recorded !== undefined) {
    await followAgain(history, recorded);
    return;
  }
  if (history.end !== undefined) return;

  const dueAt = dueTime(history, pointer.attempt);
  if (now() < dueAt) {
    await sendPointer(message, pointer.attempt, dueAt);
    return;
  }

  const [account, body] = await Promise.all([ownerOf(message), loadBody(message.messageId, history.body)]);
  if (account === undefined) return;
  if (!isServed(account)) {
    await hold(history, pointer);
    return;
  }
  const slot = await takeSlot(account);
  if (slot === undefined) {
    await waitForRoom(history, pointer);
    return;
  }
  await makeAttempt(history, pointer.attempt, account, body, slot);
}

/** Makes an attempt, and gives its slot to the next when its request is over. */
async function makeAttempt(
  history: MessageHistory,
  attempt: number,
  account: Account,
  body: Uint8Array,
  slot: Slot,
): Promise<void> {
  const startedAt = now();
  let released: Promise<number> | undefined;
  try {
    const response = await send(history.message, attempt, account, body);
    released = slot.release();
    await settle(history, account, body, { number: attempt, startedAt, response });
  } finally {
    const room = await (released ?? slot.release());
    // Should this die, the look that is asked for whenever somebody waits sees to those that are left.
    if (room > 0) await letSomeGo(account, room);
  }
}

/**
 * Ends a message whose pointer was given back too often to be tried further: it fails, visibly, in the dead letter
 * queue.
 */
export async function abandon(pointer: Pointer): Promise<void> {
  const history = await loadMessage(pointer);
  if (history === undefined) return;
  const recorded = history.attempts.find((attempt) => attempt.number === pointer.attempt);
  if (recorded !== undefined) {
    await followAgain(history, recorded);
    return;
  }
  if (history.end !== undefined) return;
  const { message } = history;
  const account = await ownerOf(message);
  if (account === undefined) return;
  if (!isServed(account)) {
    await hold(history, pointer);
    return;
  }
  const wantsBody = message.callback !== undefined || message.failureCallback !== undefined;
  const body = wantsBody ? await loadBody(message.messageId, history.body) : new Uint8Array();
  const response = {
    status: 0,
    error: 'The delivery worker failed each time it was to make this attempt; see its log.',
    headers: {},
    body: new Uint8Array(),
  };
  const attempt = { number: pointer.attempt, startedAt: now(), response };
  await settle(history, account, body, attempt, { state: 'FAILED' });
}

/** A pointer may overtake the row that is written beside it: a young one looks again, an old one has lost its row. */
async function lookAgain(pointer: Pointer): Promise<void> {
  const young = now() - timeOfId(pointer.messageId) < youngMs;
  if (young) await sendAgain(pointer, 1);
  else log.warn('A pointer to no message was dropped', { messageId: pointer.messageId });
}

function dueTime({ message, attempts }: MessageHistory, attempt: number): number {
  if (attempt === 0) return message.notBefore;
  const before = attempts.find(({ number }) => number === attempt - 1);
  return before?.nextDeliveryAt ?? message.notBefore;
}

/** @returns undefined when it was deleted: its messages are not delivered, and expire */
async function ownerOf({ accountId, messageId }: Message): Promise<Account | undefined> {
  const account = (await accounts(accountId)) ?? (await loadAccount(accountId, true));
  if (account !== undefined && !isDeleted(account)) return account;
  log.warn('A message of a deleted account is not delivered', { accountId, messageId });
  return undefined;
}

/** What a destination is told of where its message came from. */
function originHeaders({ prefix, ...message }: Message): readonly Header[] {
  const origin = {
    'topic-name': message.topicName,
    'endpoint-name': message.endpointName,
    'queue-name': message.queueName,
    'schedule-id': message.scheduleId,
  };
  return Object.entries(origin).flatMap(([name, value]): Header[] =>
    value === undefined ? [] : [[headerName(prefix, name).toLowerCase(), value]],
  );
}

/** Makes the HTTP request, signed, with all that a destination is told about its message. */
async function send(
  message: Message,
  attempt: number,
  account: Account,
  body: Uint8Array,
): Promise<DestinationResponse> {
  const { prefix, messageId } = message;
  const signatures = await signatureHeaders(signingKeysOf(await masterSecret(), account), {
    messageId,
    url: message.url,
    body,
    prefix,
    signedAt: now(),
  });
  const own: readonly Header[] = [
    [headerName(prefix, 'message-id').toLowerCase(), messageId],
    [headerName(prefix, 'retried').toLowerCase(), String(attempt)],
    [headerName(prefix, 'caller-ip').toLowerCase(), message.callerIp],
    [headerName(prefix, 'region').toLowerCase(), settings.region],
    ...originHeaders(message),
    ...signatures.map(([name, value]): Header => [name.toLowerCase(), value]),
  ];
  return request({
    url: message.url,
    method: message.method,
    headers: withDefaults(own, withDefaults(message.headers, [['user-agent', 'Svc-Queue']])),
    body,
    timeoutMs: message.timeoutMs,
    maxResponseBytes: limitsOf(account).max_message_size,
  });
}

interface MadeAttempt {
  readonly number: number;
  readonly startedAt: number;
  readonly response: DestinationResponse;
}

/**
 * Records a made attempt and does what follows. Callback messages are written before the record, because only now is
 * the whole response at hand; without a pointer they are inert, and a repeated attempt overwrites them.
 */
async function settle(
  history: MessageHistory,
  account: Account,
  body: Uint8Array,
  made: MadeAttempt,
  decided?: { readonly state: 'FAILED' },
): Promise<void> {
  const { message } = history;
  const limits = limitsOf(account);
  const recordedAt = now();
  const outcome = await afterCancelling(
    message,
    decided ?? outcomeOf(message, made.number, made.response, recordedAt),
  );
  const attempt: Attempt = {
    ...made,
    ...outcome,
    recordedAt,
    response: { ...made.response, body: made.response.body.subarray(0, limits.max_events_size) },
  };
  const due = callbacksDue(history, attempt);
  await Promise.all(
    due.map(async (callback) => {
      const { max_message_size: maxBytes, max_dlq_retention_time_milis: dlqRetentionMs } = limits;
      const facts = { message, body, response: made.response, retried: made.number, dlqId: callback.dlqId };
      const content = callbackBody(facts, maxBytes);
      const notBefore = recordedAt + callback.settings.delayMs;
      const callbackMessage: Message = {
        ...callback.settings,
        redaction: redactionOfCallback(message, callback.settings),
        messageId: callback.messageId,
        accountId: message.accountId,
        prefix: message.prefix,
        createdAt: recordedAt,
        notBefore,
        callerIp: message.callerIp,
        expiresAt: expiryOf({ ...callback.settings, notBefore }, dlqRetentionMs),
      };
      const stored = await storeBody(callbackMessage, content, recordedAt);
      await putMessage(callbackMessage, stored);
    }),
  );

  const first = await recordAttempt(message, attempt);
  log[outcome.state === 'DELIVERED' ? 'info' : 'warn']('attempt', {
    messageId: message.messageId,
    attempt: made.number,
    url: urlForLog(message.url),
    status: made.response.status,
    error: made.response.error,
    durationMs: recordedAt - made.startedAt,
    outcome: outcome.state,
    ...(first ? {} : { repeated: true }),
  });
  // Another worker recorded it meanwhile and does what follows. Should it die before, this pointer's return sees to it.
  if (!first) throw new ComeBack('The attempt was recorded by another worker.');
  await Promise.all([follow(history, attempt, account), countFollowing(account, due.length)]);
}

/** A callback's body holds its message's body and headers: where those are redacted, it is. */
function redactionOfCallback({ redaction }: Message, callback: CallbackSettings): Redaction | undefined {
  if (redaction === undefined) return callback.redaction;
  return { ...(callback.redaction ?? noRedaction), body: true };
}

/** What failed while its message was being cancelled is not followed by anything. Only failures pay for the look. */
async function afterCancelling(
  message: Message,
  outcome: Outcome,
): Promise<Outcome | { readonly state: 'CANCELLED' }> {
  if (outcome.state === 'DELIVERED' || !(await isEnded(message))) return outcome;
  return { state: 'CANCELLED' };
}

interface CallbackDue {
  readonly settings: CallbackSettings;
  readonly messageId: string;
  readonly dlqId: string | undefined;
}

/** The dead letter's id: the same however often it is asked for. */
const dlqIdOf = (history: MessageHistory, attempt: number): string =>
  derivedId('dlq', dueTime(history, attempt), `${history.message.messageId}/${attempt}`);

/** The callbacks that an attempt gives rise to, their ids derived from it, so that each is made once. */
function callbacksDue(
  history: MessageHistory,
  attempt: Pick<Attempt, 'number' | 'state'>,
): readonly CallbackDue[] {
  const { message } = history;
  if (attempt.state === 'CANCELLED') return [];
  const idFor = (kind: string): string =>
    derivedId('msg', dueTime(history, attempt.number), `${message.messageId}/${attempt.number}/${kind}`);
  const due: CallbackDue[] = [];
  if (message.callback !== undefined) {
    due.push({ settings: message.callback, messageId: idFor('callback'), dlqId: undefined });
  }
  if (message.failureCallback !== undefined && attempt.state === 'FAILED') {
    const dlqId = dlqIdOf(history, attempt.number);
    due.push({ settings: message.failureCallback, messageId: idFor('failure-callback'), dlqId });
  }
  return due;
}

/**
 * Does what follows from a recorded attempt. Everything here may be done twice: a second pointer to an attempt that was
 * made is dropped, and a dead letter is written unless it is there.
 */
async function follow(history: MessageHistory, attempt: Attempt, owner: Account): Promise<void> {
  const { message } = history;
  const steps: Promise<void>[] = callbacksDue(history, attempt).map((callback) =>
    sendPointer(
      { ...callback.settings, messageId: callback.messageId, accountId: message.accountId },
      0,
      attempt.recordedAt + callback.settings.delayMs,
    ),
  );
  const next = attempt.number + 1;
  const isNextMade = history.attempts.some(({ number }) => number === next);
  if (attempt.state === 'RETRY' && !isNextMade) {
    steps.push(sendPointer(message, next, attempt.nextDeliveryAt ?? attempt.recordedAt));
  }
  if (attempt.state === 'FAILED') steps.push(bury(history, attempt, owner));
  await Promise.all(steps);
}

/** The pointer to an attempt that was made came back: whoever made it may have died before he did what follows. */
async function followAgain(history: MessageHistory, attempt: Attempt): Promise<void> {
  const owner = await ownerOf(history.message);
  if (owner !== undefined) await follow(history, attempt, owner);
}

async function bury(history: MessageHistory, last: Attempt, owner: Account): Promise<void> {
  const { message } = history;
  const { max_dlq_retention_time_milis: retentionMs, max_dlq_size: size } = limitsOf(owner);
  const dlqId = dlqIdOf(history, last.number);
  await putDeadLetter({
    dlqId,
    message,
    retried: last.number,
    failedAt: last.recordedAt,
    responseStatus: last.response.status,
    responseHeaders: last.response.headers,
    error: last.response.error,
    // The bodies stay with the message, whose row must not end before.
    expiresAt: Math.min(last.recordedAt + retentionMs, message.expiresAt),
  });
  await keepDlqSize(message.accountId, dlqId, size);
}
