/** The messages of alarms. They are marked, so that they never cause alarms. */
import { defaultRetries, limitsOf, type Account } from '../account/account.ts';
import { settings as deployment } from '../aws/settings.ts';
import { expiryOf, type Message } from '../message/message.ts';
import type { Draft } from '../publish/prepare.ts';
import { defaultPrefix } from '../request/dialect.ts';
import { addMissingHeaders } from '../request/forwarding.ts';
import { minuteMs, secondMs } from '../shared/clock.ts';
import { derivedId, newId } from '../shared/ids.ts';
import type { Alarms, Notice } from './alarm.ts';
import { bodyOf, type AlarmMessage } from './rules/bodies.ts';

const label = 'alarm';
const timeoutSeconds = 30;

type Receiver = Pick<Alarms, 'accountId' | 'settings' | 'callerIp'>;

type Said = Omit<AlarmMessage, 'account' | 'region'>;

/** @param at when the message is made and due */
function draftOf(
  account: Account,
  { settings, callerIp }: Receiver,
  messageId: string,
  at: number,
  said: Said,
): Draft {
  const { url, format, routingKey, headers } = settings;
  const limits = limitsOf(account);
  const message: Omit<Message, 'expiresAt'> = {
    messageId,
    accountId: account.id,
    prefix: defaultPrefix,
    url,
    method: 'POST',
    headers: addMissingHeaders(headers, [['content-type', 'application/json']]),
    maxRetries: defaultRetries(account),
    timeoutMs: Math.min(timeoutSeconds, limits.timeout) * secondMs,
    labels: [label],
    // Failures of this message do not open circuits, because that would raise an alarm.
    circuit: false,
    // The body contains the routing key.
    redaction: { body: format === 'pagerduty', headers: headers.map(([name]) => name) },
    isAlarm: true,
    createdAt: at,
    notBefore: at,
    callerIp,
  };
  const whole = { ...said, account: account.customerId ?? account.id, region: deployment.region };
  const body = Buffer.from(bodyOf(format, routingKey, whole));
  return { message: { ...message, expiresAt: expiryOf(message, limits) }, body };
}

/**
 * Makes the message of a notice. The id is derived from the notice, so that a repetition makes the same
 * message.
 */
export function noticeDraft(account: Account, alarms: Alarms, notice: Notice): Draft {
  const { state, kind, subject, title, detail, openedAt, at } = notice;
  const idOf = (of: Notice['state'], time: number): string =>
    derivedId('msg', time, JSON.stringify([alarms.accountId, alarms.seed, kind, subject, openedAt, of]));
  return draftOf(account, alarms, idOf(state, at), at, {
    id: idOf('open', openedAt),
    state,
    kind,
    subject,
    title,
    detail,
    openedAt,
    ...(state === 'over' && { overAt: at }),
  });
}

/** PagerDuty must get the end of a test after its beginning. */
const testLastsMs = minuteMs;

/**
 * Makes the message of a test. For PagerDuty, makes another one that resolves the incident a minute later.
 */
export function testDrafts(account: Account, receiver: Receiver, at: number): readonly [Draft, ...Draft[]] {
  const newMessage = (time: number): string => newId('msg', time, account.shards);
  const said = {
    id: newMessage(at),
    subject: '',
    title: 'A test of the alarms',
    detail: 'Nothing is wrong: this is a test that somebody sent by hand.',
    openedAt: at,
  };
  const test = draftOf(account, receiver, newMessage(at), at, { ...said, state: 'test' });
  if (receiver.settings.format !== 'pagerduty') return [test];
  const end = at + testLastsMs;
  return [test, draftOf(account, receiver, newMessage(at), end, { ...said, state: 'over', overAt: end })];
}
