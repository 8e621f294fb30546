/** Reads from a message's headers how it belongs to a workflow. */
import { longestStepName, mostEntries } from '../../shared/bounds.ts';
import { scoped, type Config } from '../../shared/config.ts';
import { headerName, headerText } from '../../shared/headers.ts';
import { badField, quote, type HttpError } from '../../error/httpError.ts';
import { brandless, type Prefixes } from './brands.ts';
import { parseFeatures, type Features } from './features.ts';
import { refusedSubmission } from './refusals.ts';
import { deepestInvoke, isRunId, longestRunId, reservedRunId } from '../run.ts';
import { callTypes, stepTypes } from '../../wire/states.ts';
import type { StepIdentity } from './step.ts';

interface Common {
  /** The endpoint's URL as the client names it. */
  readonly url: string | undefined;
  readonly features: Features;
  /** How many runs are above this one: the run that invoked it, the run that invoked that, and so on. */
  readonly invokeDepth: number;
}

export interface StartMessage extends Common {
  /** `invoke`: the body names another run, which waits for the end of this one. */
  readonly kind: 'start' | 'invoke';
  /** Undefined if the service is to make the id. */
  readonly runId: string | undefined;
  /** The client's version of the protocol, which each delivery must name. */
  readonly sdkVersion: string | undefined;
  /**
   * Whether this is an endpoint's answer to a run whose client was unknown. It upgrades that run and starts
   * no other.
   */
  readonly isUpgrade: boolean;
  /** Whether the endpoint must first be asked which client it has. It answers with an upgrade of the run. */
  readonly isUnknownClient: boolean;
  /** The run is started without a client. Its endpoint must have a client from 1.0 on. */
  readonly isWithoutClient?: true | undefined;
}

interface OfRun extends Common {
  readonly runId: string;
  /** When the run started. Older clients do not send it. */
  readonly createdAt: number | undefined;
}

export interface SubmissionMessage extends OfRun {
  readonly kind: 'submission';
}

/**
 * A call to a third party. Its answer is delivered to the endpoint, which submits it as the step's result.
 */
export interface CallMessage extends OfRun {
  readonly kind: 'call';
  readonly step: StepIdentity;
}

/**
 * A message that this service makes. It delivers the answer of a third party to the endpoint, or reports the
 * run's failure.
 */
interface OwnMessage extends OfRun {
  readonly kind: 'callResult' | 'failureRequest';
}

export type WorkflowMessage = StartMessage | SubmissionMessage | CallMessage | OwnMessage;

/** Reads headers. If one is malformed, throws the refusal that fits the message. */
class Reader {
  readonly #prefix: string;
  readonly #config: Config;
  readonly refuse: (message: string) => HttpError;

  constructor(prefix: string, config: Config, refuse: (message: string) => HttpError) {
    this.#prefix = prefix;
    this.#config = config;
    this.refuse = refuse;
  }

  text(name: string): string | undefined {
    const [first, ...more] = this.#config.get(name) ?? [];
    if (more.some((other) => other !== first)) {
      throw this.refuse(`${this.field(name)} is given ${more.length + 1} times; allowed is once.`);
    }
    return first && headerText(first).trim();
  }

  field(name: string): string {
    return headerName(this.#prefix, name);
  }

  oneOf<T extends string>(name: string, allowed: readonly T[]): T | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    const found = allowed.find((known) => known.toLowerCase() === text.toLowerCase());
    if (found === undefined) {
      throw this.refuse(`${this.field(name)} is ${quote(text)}; allowed are ${allowed.join(', ')}.`);
    }
    return found;
  }

  flag(name: string): boolean {
    return this.oneOf(name, ['true', 'false']) === 'true';
  }

  integer(name: string, least: number, most?: number): number | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    if (!/^\d{1,15}$/.test(text) || Number(text) < least || Number(text) > (most ?? Infinity)) {
      const end = most === undefined ? 'on' : `to ${most}`;
      throw this.refuse(
        `${this.field(name)} is ${quote(text)}; allowed is a whole number from ${least} ${end}.`,
      );
    }
    return Number(text);
  }

  stepName(name: string): string | undefined {
    const text = this.text(name);
    if (text === undefined || text.length <= longestStepName) return text;
    throw this.refuse(
      `${this.field(name)} has ${text.length} characters; allowed are 1 to ${longestStepName}.`,
    );
  }

  runId(): string | undefined {
    const text = this.text('workflow-runid');
    if (text === undefined) return undefined;
    if (!isRunId(text)) {
      throw this.refuse(
        `${this.field('workflow-runid')} is ${quote(text)}; allowed are 1 to ${longestRunId} characters without spaces, "/", "?", "#", "%" and "\\", but not "${reservedRunId}".`,
      );
    }
    return text;
  }
}

/** The full name of a forwarded header of the service, as it is in this configuration. */
const forwardedName = (config: Config, inner: string, prefixes: Prefixes): string =>
  [...config.keys()].find(
    (name) => name.startsWith('forward-') && brandless(name.slice('forward-'.length), prefixes) === inner,
  ) ?? `forward-${inner}`;

function common(reader: Reader, config: Config, prefixes: Prefixes): Common {
  const depthName = forwardedName(config, 'workflow-invoke-count', prefixes);
  const invokeDepth = reader.integer(depthName, 0) ?? 0;
  if (invokeDepth > deepestInvoke) {
    throw refusedSubmission(
      `${reader.field(depthName)} is ${invokeDepth}: runs may invoke one another ${deepestInvoke} deep.`,
    );
  }
  return {
    url: reader.text('workflow-url'),
    features: parseFeatures(reader.text('feature-set')),
    invokeDepth,
  };
}

/** Reads the step of a call from the headers that are to be delivered with its result. */
function stepOfCall(prefix: string, config: Config, prefixes: Prefixes): StepIdentity {
  const callback = scoped(config, 'callback');
  const nameOf = (name: string): string => `callback-${forwardedName(callback, name, prefixes)}`;
  const reader = new Reader(prefix, config, refusedSubmission);
  const required = <T>(name: string, read: (full: string) => T | undefined): T => {
    const value = read(nameOf(name));
    if (value !== undefined && value !== '') return value;
    throw refusedSubmission(`${reader.field(nameOf(name))} is missing; a call's result needs it.`);
  };
  for (const name of ['workflow-callback', 'workflow-contenttype'])
    required(name, (full) => reader.text(full));
  return {
    stepId: required('workflow-stepid', (full) => reader.integer(full, 1, mostEntries)),
    stepName: required('workflow-stepname', (full) => reader.stepName(full)),
    stepType: required('workflow-steptype', (full) => reader.oneOf(full, stepTypes)),
    concurrent: required('workflow-concurrent', (full) => reader.integer(full, 1, mostEntries)),
  };
}

const startOf = (reader: Reader, config: Config, prefixes: Prefixes): StartMessage => {
  const callType = reader.oneOf('workflow-calltype', callTypes) ?? 'step';
  if (callType !== 'step') {
    throw reader.refuse(
      `${reader.field('workflow-calltype')} is ${callType}; a start of a run has none, or "step".`,
    );
  }
  const runId = reader.runId();
  const isUpgrade = reader.flag('workflow-trigger-by-sdk');
  if (isUpgrade && runId === undefined) {
    throw reader.refuse(
      `${reader.field('workflow-trigger-by-sdk')} is true, but ${reader.field('workflow-runid')} is missing.`,
    );
  }
  return {
    kind: reader.flag('workflow-invoke') ? 'invoke' : 'start',
    runId,
    sdkVersion: reader.text('workflow-sdk-version'),
    isUpgrade,
    isUnknownClient: false,
    ...common(reader, config, prefixes),
  };
};

const kindOfCallType = {
  step: 'submission',
  fromCallback: 'callResult',
  failureCall: 'failureRequest',
} as const;

function partOf(
  prefix: string,
  reader: Reader,
  config: Config,
  prefixes: Prefixes,
): Exclude<WorkflowMessage, StartMessage> {
  const runId = reader.runId();
  // A 400 without a run id cannot be mistaken for the end of a run.
  if (runId === undefined) {
    throw badField(
      `${reader.field('workflow-runid')} is missing; with ${reader.field('workflow-init')}: false it names the run.`,
    );
  }
  for (const name of ['workflow-invoke', 'workflow-trigger-by-sdk']) {
    if (reader.flag(name)) {
      throw reader.refuse(`${reader.field(name)} is for a start of a run; this message belongs to one.`);
    }
  }
  const rest = {
    runId,
    createdAt: reader.integer('workflow-createdat', 0),
    ...common(reader, config, prefixes),
  };
  const callType = reader.oneOf('workflow-calltype', callTypes) ?? 'step';
  if (callType === 'toCallback') {
    if (!config.has('callback')) {
      throw reader.refuse(`${reader.field('callback')} is missing; a call's result is sent there.`);
    }
    return { kind: 'call', ...rest, step: stepOfCall(prefix, config, prefixes) };
  }
  return { kind: kindOfCallType[callType], ...rest };
}

/**
 * Reads from a message's headers how it belongs to a workflow. The service's own messages are read in the
 * same way: what a call configures for its callback is a call result, and what a start configures for its
 * failure callback is a failure request.
 *
 * @param prefixes those that the deployment accepts
 * @returns undefined for an ordinary message, even if it names a run
 * @throws HttpError 400 for a malformed start; 412 for a malformed submission, because 400 would mean that
 * the run has ended
 */
export function readWorkflowMessage(
  { prefix, config }: { readonly prefix: string; readonly config: Config },
  prefixes: Prefixes,
): WorkflowMessage | undefined {
  if (!config.has('workflow-init')) return undefined;
  const asStart = new Reader(prefix, config, badField);
  const isStart = asStart.flag('workflow-init');
  return isStart
    ? startOf(asStart, config, prefixes)
    : partOf(prefix, new Reader(prefix, config, refusedSubmission), config, prefixes);
}
