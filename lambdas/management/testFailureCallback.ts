import { noAnswer } from '../destination/response.ts';
import { callUrl } from '../delivery/callDestination.ts';
import { callbackBody } from '../delivery/callbackBody.ts';
import { accountCallbackSettings } from '../delivery/accountCallbackSettings.ts';
import { badRequest, quote } from '../error/httpError.ts';
import type { Account } from '../account/account.ts';
import type { Message } from '../message/message.ts';
import { now, secondMs } from '../shared/clock.ts';
import { newId } from '../shared/ids.ts';
import { beginningOf } from '../shared/bytes.ts';
import { defaultPrefix } from '../request/dialect.ts';
import type { Answer } from '../wire/answers.ts';
import type { testedCallback } from '../wire/accountAnswers.ts';
import { existingAccount } from './replicas.ts';

/** The calling function is ended after 28 s. */
const timeoutMs = 20 * secondMs;
/** Bytes of the answer's body that are shown. */
const shownBytes = 2_000;

/** A message that is never sent, for the callback to report. */
const failedMessage = (account: Account, time: number, callerIp: string): Message => ({
  messageId: newId('msg', time, account.shards),
  accountId: account.id,
  prefix: defaultPrefix,
  url: 'https://example.com/test',
  method: 'POST',
  headers: [['content-type', 'text/plain']],
  maxRetries: 0,
  timeoutMs,
  labels: [],
  createdAt: time,
  notBefore: time,
  callerIp,
  expiresAt: time,
});

/**
 * Calls the failure callback with an invented failure, like a delivery, and waits for its answer. Nothing is
 * stored or retried. The request does not come from a VPC, even if deliveries do.
 *
 * @throws HttpError 400 for an account without a failure callback, 404 or 503
 */
export async function testFailureCallback(
  id: string,
  callerIp: string,
): Promise<Answer<typeof testedCallback>> {
  const account = await existingAccount(id, 'stale');
  const settings = accountCallbackSettings(account.failureCallback, account);
  if (settings === undefined)
    throw badRequest(
      'wrong_state',
      `The account ${quote(account.id)} has no failure_callback; set one first.`,
    );
  const time = now();
  const failed = failedMessage(account, time, callerIp);
  const response = noAnswer('This is a test of the failure callback; no message has failed.');
  const body = callbackBody(
    { message: failed, body: Buffer.from('test'), response, retried: 0 },
    1_024 * 1_024,
  );
  const call = { ...failed, ...settings, messageId: newId('msg', time, account.shards), timeoutMs };
  const { status, error, body: answered } = await callUrl(call, 0, account, body);
  const text = Buffer.from(beginningOf(answered, shownBytes)).toString('utf8');
  return { status, error, body: text === '' ? undefined : text };
}
