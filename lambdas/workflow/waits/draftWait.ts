/** Makes the record of a wait from its request. Nothing is stored here. */
import type { Account } from '../../account/account.ts';
import { settings } from '../../aws/settings.ts';
import { badRequest } from '../../error/httpError.ts';
import type { CanonicalRequest } from '../../request/dialect.ts';
import { redactHeaders } from '../../message/redaction.ts';
import type { Redaction } from '../../options/redaction.ts';
import { now } from '../../shared/clock.ts';
import type { Header } from '../../shared/headers.ts';
import { newId } from '../../shared/ids.ts';
import { brandless } from '../rules/brands.ts';
import type { RunStart, WaitRecord } from '../rules/journal.ts';
import { refusedSubmission } from '../rules/refusals.ts';
import { ownSettings } from '../rules/runSettings.ts';
import { readWorkflowMessage, type SubmissionMessage } from '../rules/workflowMessage.ts';
import type { PreparedWait } from './prepareWait.ts';

/**
 * Reads the step that a wait belongs to from the request's headers.
 *
 * @throws HttpError 400 without the headers of a submission, 412 if it starts a run
 */
export function readSubmission(request: CanonicalRequest): SubmissionMessage {
  const message = readWorkflowMessage(request, settings.headerPrefixes);
  if (message === undefined) {
    throw badRequest(
      'workflow_request_invalid',
      'Workflow-Init is missing; only the endpoint of a run waits for an event.',
    );
  }
  if (message.kind !== 'submission') throw refusedSubmission('A wait is a step of a run, and starts none.');
  return message;
}

/** The duration of the wait counts from here, even if its record is delayed. */
export function draftWait(
  account: Account,
  eventId: string,
  start: RunStart,
  prepared: PreparedWait,
): WaitRecord {
  const { step, url, timeout, timeoutMs, timeoutUrl, timeoutForwarded, options } = prepared;
  const own = ownSettings(new Set(start.features), options);
  const { redaction } = own ?? start.settings;
  const at = now();
  return {
    kind: 'wait',
    at,
    step,
    messageId: newId('msg', at, account.shards),
    eventId,
    url,
    timeout,
    deadline: at + timeoutMs,
    timeoutUrl,
    forwarded: options.headers,
    timeoutForwarded,
    headers: redactForwarded(prepared.headers, redaction),
    timeoutHeaders: redactForwarded(prepared.timeoutHeaders, redaction),
    settings: own,
  };
}

/** Only the user's headers are redacted. The others are the client's. */
const redactForwarded = (headers: readonly Header[], redaction: Redaction | undefined): readonly Header[] =>
  redaction === undefined
    ? headers
    : headers.flatMap(([name, value]): readonly Header[] => {
        const inner = /^forward-(.*)$/.exec(brandless(name, settings.headerPrefixes) ?? '')?.[1];
        if (inner === undefined) return [[name, value]];
        return redactHeaders([[inner, value]], redaction).map(([, shown]): Header => [name, shown]);
      });
