import * as z from 'zod/mini';
import { shownAsBytes } from '../delivery/callbackBody.ts';
import { passedOn } from '../request/forwarding.ts';
import { shownHeaders, type Header } from '../shared/headers.ts';
import { headersIn, optionalField } from '../shared/json.ts';
import { base64Length } from './runs/listBody.ts';
import { refusedSubmission } from './rules/refusals.ts';
import { parseSubmitted, pendingStep, type StepIdentity } from './rules/step.ts';
import { parseStepDurationMs } from './rules/time.ts';

/** A step that waits for an event, or for a call of a webhook. */
export interface Wait {
  readonly step: StepIdentity;
  /** The endpoint that gets the result. */
  readonly url: string;
  /** The duration as the user wrote it, for the log. */
  readonly timeout: string;
  readonly timeoutMs: number;
  readonly timeoutUrl: string;
  /** Publish headers for the result of a timeout, with the dialect's prefix; names in lower case. */
  readonly timeoutHeaders: readonly Header[];
}

export const waitShape = z.object({
  step: pendingStep,
  url: z.string(),
  timeout: optionalField(z.union([z.number(), z.string()])),
  timeoutUrl: optionalField(z.string()),
  timeoutHeaders: optionalField(headersIn('Headers for the delivery of a time-out.')),
});

/** The client's default, which it leaves out for webhooks. */
const defaultTimeout = '7d';

export function parseWait(body: Uint8Array): Wait {
  const { step, url, timeout = defaultTimeout, ...rest } = parseSubmitted('The wait', body, waitShape);
  if (step.stepType !== 'Wait' && step.stepType !== 'WaitForWebhook') {
    throw refusedSubmission(`step.stepType is ${step.stepType}; allowed are Wait and WaitForWebhook.`);
  }
  return {
    step,
    url,
    timeout: String(timeout).trim(),
    timeoutMs: parseStepDurationMs('timeout', timeout),
    timeoutUrl: rest.timeoutUrl ?? url,
    timeoutHeaders: (rest.timeoutHeaders ?? []).map(([name, value]) => [name.toLowerCase(), value]),
  };
}

const json = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));

/** @param event the bytes of the notification, possibly empty; undefined after a timeout */
export function waitResult(step: StepIdentity, eventId: string, event: Uint8Array | undefined): Buffer {
  const { stepId, stepName, stepType, concurrent } = step;
  const end = event === undefined ? { waitTimeout: true } : { out: Buffer.from(event).toString('base64') };
  return json({ stepId, stepName, stepType, ...end, concurrent, waitEventId: eventId });
}

export const waitResultBytes = (step: StepIdentity, eventId: string, eventBytes: number): number =>
  waitResult(step, eventId, new Uint8Array()).length + base64Length(eventBytes);

export interface HookRequest {
  readonly method: string;
  /** Names in lower case. */
  readonly headers: readonly Header[];
  readonly body: Uint8Array;
  /** The scheme without a colon, such as `https`. */
  readonly proto: string;
  readonly host: string;
  /** Path and query. */
  readonly url: string;
}

/**
 * Makes an event from a webhook's request. The client makes a `Request` from it. Omits headers of the
 * connection and of gateways, and tokens of this service.
 */
export const hookEvent = ({ method, headers, body, proto, host, url }: HookRequest): Buffer =>
  json({
    method,
    header: shownHeaders(shownAsBytes(passedOn(headers))),
    body: body.length === 0 ? undefined : Buffer.from(body).toString('base64'),
    proto,
    host,
    url,
  });
