import * as z from 'zod/mini';
import { headersIn, optionalField } from '../../shared/json.ts';
import { jsonTextBytes } from '../../shared/jsonSize.ts';
import { refusedSubmission } from './refusals.ts';
import type { Readable } from '../../options/option.ts';
import { headerPairs } from '../../table/attributes.ts';
import { isRunId } from '../run.ts';
import { parseSubmitted, pendingStep, stepIdentity, type StepIdentity } from './step.ts';

/** The run that waits, as an invoke names it. Clients before 1.1.1 omit its start time. */
type NamedInvoker = Omit<Invoker, 'createdAt'> & Partial<Pick<Invoker, 'createdAt'>>;

/** The run that waits for an invoked run, and how it is told of its end. */
export const invoker = z.object({
  runId: z.string(),
  createdAt: z.number(),
  url: z.string(),
  step: stepIdentity,
  /** Publish headers for the result, with the dialect's prefix; names in lower case. */
  headers: headerPairs,
});
export type Invoker = Readable<z.infer<typeof invoker>>;

export interface Invoke {
  /** The initial payload of the invoked run. */
  readonly payload: Uint8Array;
  readonly invoker: NamedInvoker;
}

const invokeShape = z.object({
  body: optionalField(z.string()),
  headers: optionalField(headersIn('Headers for the delivery of the result.')),
  workflowRunId: z.string().check(z.refine(isRunId, 'it is no id of a run')),
  workflowRunCreatedAt: optionalField(z.int()),
  workflowUrl: z.string(),
  step: pendingStep,
});

/**
 * Reads an invoke's body: the payload, and the run that waits.
 *
 * @throws HttpError 412
 */
export function parseInvoke(body: Uint8Array): Invoke {
  const read = parseSubmitted('The invoke', body, invokeShape);
  if (read.step.stepType !== 'Invoke') {
    throw refusedSubmission(`step.stepType is ${read.step.stepType}; allowed is Invoke.`);
  }
  return {
    payload: Buffer.from(read.body ?? ''),
    invoker: {
      runId: read.workflowRunId,
      createdAt: read.workflowRunCreatedAt,
      url: read.workflowUrl,
      step: read.step,
      headers: (read.headers ?? []).map(([name, value]) => [name.toLowerCase(), value]),
    },
  };
}

export type InvokeEnd =
  /** @param response the function's return value as JSON text; undefined if it returned nothing */
  | { readonly state: 'RUN_SUCCESS'; readonly response: string | undefined }
  | { readonly state: 'RUN_FAILED' | 'RUN_CANCELED' }
  | { readonly state: 'RUN_FAILED'; readonly reason: string };

const bodyOf = (end: InvokeEnd): string | undefined => {
  if (end.state === 'RUN_SUCCESS') return end.response;
  return 'reason' in end ? JSON.stringify(end.reason) : undefined;
};

/** The client expects the return value as JSON text within the JSON. */
export function invokeResult(step: StepIdentity, end: InvokeEnd): Buffer {
  const { stepId, stepName, stepType, concurrent } = step;
  const out = JSON.stringify({
    body: bodyOf(end),
    isFailed: end.state === 'RUN_FAILED',
    isCanceled: end.state === 'RUN_CANCELED',
  });
  return Buffer.from(JSON.stringify({ stepId, stepName, stepType, out, concurrent }));
}

/**
 * How often quotes are escaped: the text is in the JSON of `out`, which is itself a text in the JSON of the
 * step.
 */
const levels = 2;

/** The length of {@link invokeResult} in bytes, without making it. */
export function invokeResultBytes(step: StepIdentity, end: InvokeEnd): number {
  const body = bodyOf(end);
  if (body === undefined) return invokeResult(step, end).length;
  const frame = invokeResult(step, { state: 'RUN_SUCCESS', response: '' }).length - jsonTextBytes('', levels);
  return frame + jsonTextBytes(body, levels) - (end.state === 'RUN_FAILED' ? 1 : 0);
}
