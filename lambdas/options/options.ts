/**
 * All options of a message, as the service reads, stores and shows them. The compiler refuses a list in which
 * one is missing.
 */
import type * as z from 'zod/mini';
import type { Limits } from '../value/limits.ts';
import * as callbacks from './callbacks.ts';
import * as circuit from './circuit.ts';
import * as failOn from './failOn.ts';
import * as flowControl from './flowControl.ts';
import * as hideHeaders from './hideHeaders.ts';
import * as labels from './labels.ts';
import * as method from './method.ts';
import type { Every, Given, Readable, Shape } from './option.ts';
import * as redaction from './redaction.ts';
import * as retries from './retries.ts';
import * as retryDelay from './retryDelay.ts';
import * as timeout from './timeout.ts';
import * as turn from './turn.ts';

export { parseGone, storedGone, type Gone } from './failOn.ts';

export const stored = {
  method: method.stored,
  maxRetries: retries.stored,
  timeoutMs: timeout.stored,
  retryDelay: retryDelay.stored,
  labels: labels.stored,
  flowControl: flowControl.stored,
  fairKey: turn.stored,
  priority: turn.storedPriority,
  redaction: redaction.stored,
  circuit: circuit.stored,
  hideHeaders: hideHeaders.stored,
  deferredMs: timeout.storedDeferred,
  failOn: failOn.stored,
};

export type DeliveryOptions = Readable<z.infer<z.ZodMiniObject<typeof stored>>>;

/**
 * Reads the options in a request; others are undefined. If there are several mistakes, the error is for the
 * first one in this order.
 *
 * @param checkExpression see `check` of `parse` in `retryDelay.ts`
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
  fairKey: turn.parse(given),
  priority: turn.parsePriority(given),
  redaction: redaction.parse(given),
  circuit: circuit.parse(given),
  hideHeaders: hideHeaders.parse(given),
  deferredMs: timeout.parseDeferred(given),
  failOn: failOn.parse(given),
});

/** Options that each message of a run has for itself. */
interface OwnOptions {
  readonly method: unknown;
  readonly timeoutMs: unknown;
  readonly circuit: unknown;
  readonly hideHeaders: unknown;
  readonly deferredMs: unknown;
  readonly failOn: unknown;
}

/** Options that all messages of a run take from its start. */
export type RunSettings = Omit<DeliveryOptions, keyof OwnOptions>;

export const storedOfRun = {
  maxRetries: retries.stored,
  retryDelay: retryDelay.stored,
  labels: labels.stored,
  flowControl: flowControl.stored,
  fairKey: turn.stored,
  priority: turn.storedPriority,
  redaction: redaction.stored,
} satisfies Shape<RunSettings>;

export function inherited(of: RunSettings): Every<RunSettings>;
export function inherited(of: Partial<RunSettings>): Every<Partial<RunSettings>>;
export function inherited(of: Partial<RunSettings>): Every<Partial<RunSettings>> {
  return {
    maxRetries: of.maxRetries,
    retryDelay: of.retryDelay,
    labels: of.labels,
    flowControl: of.flowControl,
    fairKey: of.fairKey,
    priority: of.priority,
    redaction: of.redaction,
  };
}

export function defined<Options extends object>(of: Options): Partial<Options> {
  const found: Partial<Options> = {};
  for (const name in of) if (of[name] !== undefined) found[name] = of[name];
  return found;
}

type Callback = Parameters<typeof callbacks.show>[0];

/** Shows options as fields of answers, in order. Redaction has no field: it is visible in the hashes. */
export const showOptions = <Headers>(
  of: DeliveryOptions & { readonly callback?: Callback; readonly failureCallback?: Callback },
  header: Headers,
) => ({
  ...method.show(of.method),
  header,
  ...retries.show(of.maxRetries),
  ...retryDelay.show(of.retryDelay),
  ...timeout.show(of),
  ...labels.show(of.labels),
  ...flowControl.show(of.flowControl),
  ...turn.show(of),
  ...circuit.show(of.circuit),
  ...hideHeaders.show(of.hideHeaders),
  ...failOn.show(of),
  ...callbacks.show(of.callback, of.failureCallback),
});

type WrittenBy<Write extends (of: never) => unknown> = Parameters<Write>[0];

/** Writes a run's options as settings, by canonical name. */
export const writeRun = (
  of: WrittenBy<typeof retries.write> &
    WrittenBy<typeof retryDelay.write> &
    WrittenBy<typeof labels.write> &
    WrittenBy<typeof flowControl.write> &
    WrittenBy<typeof turn.write>,
) => ({
  ...retries.write(of),
  ...retryDelay.write(of),
  ...labels.write(of),
  ...flowControl.write(of),
  ...turn.write(of),
});

/** Writes what an answer shows as settings, by canonical name. */
export const writeOptions = (
  of: Parameters<typeof writeRun>[0] &
    WrittenBy<typeof method.write> &
    WrittenBy<typeof timeout.write> &
    WrittenBy<typeof redaction.write> &
    WrittenBy<typeof circuit.write> &
    WrittenBy<typeof hideHeaders.write> &
    WrittenBy<typeof failOn.write> &
    WrittenBy<typeof callbacks.write>,
) => ({
  ...method.write(of),
  ...timeout.write(of),
  ...writeRun(of),
  ...redaction.write(of),
  ...circuit.write(of),
  ...hideHeaders.write(of),
  ...failOn.write(of),
  ...callbacks.write(of),
});
