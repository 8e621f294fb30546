import * as z from 'zod/mini';
import { optionalField, parseJson, problemOf } from '../../shared/json.ts';
import { longestStepName, mostEntries } from '../../shared/bounds.ts';
import { secondMs } from '../../shared/clock.ts';
import type { Readable } from '../../options/option.ts';
import { HttpError, quote } from '../../error/httpError.ts';
import { isText } from '../../shared/text.ts';
import { asSubmissionRefusal, refusedSubmission } from './refusals.ts';
import { stepTypes } from '../../wire/states.ts';
import { allowedDuration, stepDurationMs } from './time.ts';

const storedIdentity = {
  /** The number of the step, from 1. Each branch of a parallel group has one. */
  stepId: z.number(),
  stepName: z.string(),
  stepType: z.enum(stepTypes),
  /** The number of branches in the step's parallel group; otherwise 1. */
  concurrent: z.number(),
};
export const stepIdentity = z.object(storedIdentity);
export type StepIdentity = Readable<z.infer<typeof stepIdentity>>;

const storedSettings = {
  /** Seconds, or a duration such as `10m`. */
  sleepFor: z.optional(z.union([z.number(), z.string()])),
  /** Unix seconds, possibly with a fraction. */
  sleepUntil: z.optional(z.number()),
  waitEventId: z.optional(z.string()),
  timeout: z.optional(z.union([z.number(), z.string()])),
};

/** The part of a step that is stored beside its body. */
export const stepDetails = z.union([
  /** Announces a branch of a parallel group. The endpoint runs the branch in the delivery of this step. */
  z.object({ kind: z.literal('plan'), ...storedIdentity, ...storedSettings }),
  z.object({
    kind: z.literal('result'),
    ...storedIdentity,
    ...storedSettings,
    waitTimeout: z.optional(z.boolean()),
    webhookId: z.optional(z.string()),
  }),
]);
export type StepDetails = Readable<z.infer<typeof stepDetails>>;

type PlanStep = Extract<StepDetails, { readonly kind: 'plan' }>;
interface ResultStep extends Extract<StepDetails, { readonly kind: 'result' }> {
  /** The result as the client wrote it if it is a text, or else as JSON. Undefined without a result. */
  readonly out?: string | undefined;
}

export type Step = PlanStep | ResultStep;

/** The latest time of a `Date`. */
const lastMs = 8.64e15;

/** Rounds to milliseconds. DynamoDB rejects numbers above 1e126 or as small as 1e-131. */
const inWholeMs = (seconds: number): number => Math.ceil(seconds * secondMs) / secondMs;

const wholeNumber = (least: number, most: number) => {
  const error = `allowed is a whole number from ${least} to ${most}`;
  return z.int(error).check(z.minimum(least, error), z.maximum(most, error));
};
const allowedName = `allowed are 1 to ${longestStepName} characters`;

const stepId = wholeNumber(0, mostEntries);
const identity = {
  stepId,
  stepName: z.string(allowedName).check(
    z.minLength(1, allowedName),
    z.maxLength(longestStepName, allowedName),
    z.refine((text) => text.isWellFormed(), 'it has half of a character'),
  ),
  // The initial payload is the first entry, not a submitted step.
  stepType: z.enum(stepTypes.filter((type) => type !== 'Initial')),
  concurrent: wholeNumber(1, mostEntries),
};

/** See `stepDurationMs`. */
const stepDuration = z.pipe(
  z
    .union([z.number(), z.string()])
    .check(z.refine((value) => stepDurationMs(value) !== undefined, `allowed are ${allowedDuration}`)),
  z.transform((value) => (typeof value === 'number' ? inWholeMs(value) : value.trim())),
);

const allowedMoment = `allowed are Unix seconds from 0 to ${lastMs / secondMs}`;
const moment = z.pipe(
  z.number(allowedMoment).check(z.minimum(0, allowedMoment), z.maximum(lastMs / secondMs, allowedMoment)),
  z.transform(inWholeMs),
);

const identityShape = z.object(identity);

const stepShape = z.object({
  ...identity,
  // Clients before 1.0 write the value, later ones its JSON text.
  out: z.optional(z.unknown()),
  targetStep: optionalField(stepId),
  sleepFor: optionalField(stepDuration),
  sleepUntil: optionalField(moment),
  waitEventId: optionalField(z.string()),
  timeout: optionalField(stepDuration),
  waitTimeout: optionalField(z.boolean()),
});

/** A result may be any JSON, as large as a message. */
const submittedBounds = { values: 4_000_000, depth: 1_000 };

export function parseSubmitted<T>(field: string, body: Uint8Array, shape: z.ZodMiniType<T>): T {
  let json: unknown;
  try {
    json = parseJson(field, body, submittedBounds);
  } catch (error) {
    throw error instanceof HttpError ? asSubmissionRefusal(error) : error;
  }
  const read = shape.safeParse(json);
  if (read.success) return read.data;
  throw refusedSubmission(`${problemOf(read.error, field)}.`);
}

export function parseStep(body: Uint8Array): Step {
  const { targetStep = 0, out, waitTimeout, ...step } = parseSubmitted('The step', body, stepShape);
  if (step.waitEventId !== undefined) checkEventId(step.waitEventId);
  if (targetStep > 0) {
    if (step.stepId !== 0) {
      throw refusedSubmission(`The step has both stepId ${step.stepId} and targetStep ${targetStep}.`);
    }
    return { kind: 'plan', ...step, stepId: targetStep };
  }
  // The client would take a step with number 0 for another initial payload.
  if (step.stepId === 0) throw refusedSubmission('The step has neither a stepId nor a targetStep.');
  const webhookId = step.stepType === 'CreateWebhook' ? createdWebhook(out) : undefined;
  return { kind: 'result', ...step, out: textOf(out), waitTimeout, webhookId };
}

const textOf = (out: unknown): string | undefined =>
  out === undefined || typeof out === 'string' ? out : JSON.stringify(out);

/** The step of a wait or an invoke, whose result comes later. */
export const pendingStep = z
  .pipe(
    identityShape,
    z.transform((step): StepIdentity => ({ ...step })),
  )
  .check(z.refine(({ stepId }) => stepId > 0, 'its stepId is 0'));

export const stepDetailsOf = (step: Step): StepDetails => {
  if (step.kind === 'plan') return step;
  const { out: _out, ...details }: ResultStep = step;
  return details;
};

const longestEventId = 256;

/** @param refuse makes the refusal, by default with status 412 */
export function checkEventId(
  eventId: string,
  refuse: (message: string) => HttpError = refusedSubmission,
): void {
  if (isText(eventId, longestEventId)) return;
  throw refuse(`The id of the event is ${quote(eventId)}; allowed are 1 to ${longestEventId} characters.`);
}

/** The id of a webhook, as the published client makes it. */
const webhookId = /^evt_[A-Za-z0-9_-]{15}$/;

export const isWebhookId = (text: string): boolean => webhookId.test(text);

const createdShape = z.object({ eventId: z.string().check(z.regex(webhookId)) });

/**
 * Reads the id from the result of a step that creates a webhook.
 *
 * @throws HttpError 412 if there is no id, or if the service would refuse all calls with it
 */
export function createdWebhook(out: unknown): string {
  const read = createdShape.safeParse(typeof out === 'string' ? jsonIn(out) : out);
  if (read.success) return read.data.eventId;
  throw refusedSubmission(
    'The step: out names no webhook; allowed is {"webhookUrl", "eventId"} with an eventId of "evt_" and 15 letters, digits, "_" or "-".',
  );
}

/** @returns undefined if the text is not JSON, such as a truncated answer */
export function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
