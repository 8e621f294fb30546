/** All options of a message, as the service reads, keeps and shows them. The compiler refuses a list that lacks one. */
import type * as z from 'zod/mini';
import type { Limits } from '../value/limits.ts';
import * as callbacks from './callbacks.ts';
import * as circuit from './circuit.ts';
import * as flowControl from './flowControl.ts';
import * as labels from './labels.ts';
import * as method from './method.ts';
import type { Every, Given, Readable, Shape } from './option.ts';
import * as redaction from './redaction.ts';
import * as retries from './retries.ts';
import * as retryDelay from './retryDelay.ts';
import * as timeout from './timeout.ts';

/** How rows keep the options of a delivery, be it of a message or of one of its callbacks. */
export const stored = {
  method: method.stored,
  maxRetries: retries.stored,
  timeoutMs: timeout.stored,
  retryDelay: retryDelay.stored,
  labels: labels.stored,
  flowControl: flowControl.stored,
  redaction: redaction.stored,
  circuit: circuit.stored,
};

/** The options of a delivery. */
export type DeliveryOptions = Readable<z.infer<z.ZodMiniObject<typeof stored>>>;

/**
 * Reads the options that a request gives; the others are undefined. Of several mistakes, the first in this order is told.
 *
 * @param checkExpression as `retryDelay.ts` says
 * @throws HttpError 400 for a malformed value, 412 above an account's limit
 */
export const parseGiven = (
  given: Given,
  limits: Limits,
  checkExpression: Parameters<typeof retryDelay.parse>[1],
): Every<Partial<DeliveryOptions>> => ({
  retryDelay: retryDelay.parse(given, checkExpression),
  flowControl: flowControl.parse(given, limits),
  method: method.parse(given),
  maxRetries: retries.parse(given, limits),
  timeoutMs: timeout.parse(given, limits),
  labels: labels.parse(given),
  redaction: redaction.parse(given),
  circuit: circuit.parse(given),
});

/** The options that each message of a run has by itself. */
interface OwnOptions {
  readonly method: unknown;
  readonly timeoutMs: unknown;
  readonly circuit: unknown;
}

/** The options that all messages of a run have from its start: all others. */
export type RunSettings = Omit<DeliveryOptions, keyof OwnOptions>;

/** How journals keep them. */
export const storedOfRun = {
  maxRetries: retries.stored,
  retryDelay: retryDelay.stored,
  labels: labels.stored,
  flowControl: flowControl.stored,
  redaction: redaction.stored,
} satisfies Shape<RunSettings>;

/** Picks them. */
export function inherited(of: RunSettings): Every<RunSettings>;
export function inherited(of: Partial<RunSettings>): Every<Partial<RunSettings>>;
export function inherited(of: Partial<RunSettings>): Every<Partial<RunSettings>> {
  return {
    maxRetries: of.maxRetries,
    retryDelay: of.retryDelay,
    labels: of.labels,
    flowControl: of.flowControl,
    redaction: of.redaction,
  };
}

/** Leaves out the options that are undefined: those that a request does not give. */
export function defined<Options extends object>(of: Options): Partial<Options> {
  const found: Partial<Options> = {};
  for (const name in of) if (of[name] !== undefined) found[name] = of[name];
  return found;
}

type Callback = Parameters<typeof callbacks.show>[0];

/** The fields of answers, in their order. Redaction has none: what it hides is shown as its hash. */
export const showOptions = <Headers>(
  of: DeliveryOptions & { readonly callback?: Callback; readonly failureCallback?: Callback },
  header: Headers,
) => ({
  ...method.show(of.method),
  header,
  ...retries.show(of.maxRetries),
  ...retryDelay.show(of.retryDelay),
  ...timeout.show(of.timeoutMs),
  ...labels.show(of.labels),
  ...flowControl.show(of.flowControl),
  ...circuit.show(of.circuit),
  ...callbacks.show(of.callback, of.failureCallback),
});

type Shown<Write extends (of: never) => unknown> = Parameters<Write>[0];

/** Writes a run's options as the settings that ask for them, by canonical name. */
export const writeRun = (
  of: Shown<typeof retries.write> &
    Shown<typeof retryDelay.write> &
    Shown<typeof labels.write> &
    Shown<typeof flowControl.write>,
) => ({
  ...retries.write(of),
  ...retryDelay.write(of),
  ...labels.write(of),
  ...flowControl.write(of),
});

/** Writes what an answer shows as the settings that ask for it, by canonical name. */
export const writeOptions = (
  of: Parameters<typeof writeRun>[0] &
    Shown<typeof method.write> &
    Shown<typeof timeout.write> &
    Shown<typeof redaction.write> &
    Shown<typeof circuit.write> &
    Shown<typeof callbacks.write>,
) => ({
  ...method.write(of),
  ...timeout.write(of),
  ...writeRun(of),
  ...redaction.write(of),
  ...circuit.write(of),
  ...callbacks.write(of),
});
