/** Waits for events, and the results that the service makes of them. */
import * as z from 'zod/mini';
import { passedOn } from '../request/forwarding.ts';
import { shownHeaders, type Header } from '../shared/headers.ts';
import { headersIn, optionalField } from '../shared/json.ts';
import { refusedSubmission } from './rules/refusals.ts';
import { parseSubmitted, pendingStep, type StepIdentity } from './rules/step.ts';
import { parseStepDurationMs } from './rules/time.ts';

/** A step that waits for an event, or for a request to a webhook. */
export interface Wait {
  readonly step: StepIdentity;
  /** The URL that the result is delivered to when the event has come. */
  readonly url: string;
  /** The time-out as the user wrote it, for the log. */
  readonly timeout: string;
  readonly timeoutMs: number;
  readonly timeoutUrl: string;
  /** Headers as of a publish, with the dialect's prefix; names in lower case. */
  readonly timeoutHeaders: readonly Header[];
}

export const waitShape = z.object({
  step: pendingStep,
  url: z.string(),
  timeout: optionalField(z.union([z.number(), z.string()])),
  timeoutUrl: optionalField(z.string()),
  timeoutHeaders: optionalField(headersIn('Headers for the delivery of a time-out.')),
});

/** The client's own default. The client leaves the field out for a webhook whose user gives no timeout. */
const defaultTimeout = '7d';

/**
 * Reads the body of a wait.
 *
 * @throws HttpError 412
 */
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

/**
 * Makes the result of a wait.
 *
 * @param event the bytes of the notification, perhaps none; undefined when the time ran out
 */
export function waitResult(step: StepIdentity, eventId: string, event: Uint8Array | undefined): Buffer {
  const { stepId, stepName, stepType, concurrent } = step;
  const end = event === undefined ? { waitTimeout: true } : { out: Buffer.from(event).toString('base64') };
  return json({ stepId, stepName, stepType, ...end, concurrent, waitEventId: eventId });
}

/** Counts the bytes of the result of a wait by those of its event. */
export const waitResultBytes = (step: StepIdentity, eventId: string, eventBytes: number): number =>
  waitResult(step, eventId, new Uint8Array()).length + base64Bytes(eventBytes);

export const base64Bytes = (bytes: number): number => 4 * Math.ceil(bytes / 3);

/** A request to a webhook, as it came. */
export interface HookRequest {
  readonly method: string;
  /** Names in lower case. */
  readonly headers: readonly Header[];
  readonly body: Uint8Array;
  /** `https`, without a colon. */
  readonly proto: string;
  readonly host: string;
  /** Path and query. */
  readonly url: string;
}

/**
 * Makes the notification from a request to a webhook. The client builds a `Request` from it for the user. Headers of the
 * connection and of gateways are left out, and so is a token of the service.
 */
export const hookEvent = ({ method, headers, body, proto, host, url }: HookRequest): Buffer =>
  json({
    method,
    header: shownHeaders(passedOn(headers)),
    body: body.length === 0 ? undefined : Buffer.from(body).toString('base64'),
    proto,
    host,
    url,
  });
