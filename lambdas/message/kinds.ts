/**
 * Kinds of messages. A plain message is delivered as its row has it, and so is a callback. Messages of a workflow's run are
 * another kind: they are made of the run's journal when they are sent, and the run goes on after them. Lanes and deliveries
 * call that kind by this interface; the worker plugs it in.
 */
import type { Account } from '../account/account.ts';
import type { DestinationResponse } from '../destination/response.ts';
import type { EndpointSignature, MessageSignature } from '../account/endpointSecrets.ts';
import type { MadeAttempt, RecordedAttempt } from './history.ts';
import type { Attempt, Message, WorkflowPart } from './message.ts';

/** A message that is ready to be sent. */
export interface OpenedDelivery {
  /** The message with all headers that its kind gives it. */
  readonly message: Message;
  readonly body: Uint8Array;
  /**
   * Finds an error in an answer that is not retried; undefined when all is well.
   *
   * @param maxBytes the account's largest message
   */
  readonly errorOf: (response: DestinationResponse, maxBytes: number) => string | undefined;
  /** Gives back the memory that the body takes. To be called when it has been sent; a second call changes nothing. */
  readonly release: () => void;
}

/** The details that a callback tells. */
export interface CallbackDetails {
  readonly message: Message;
  /** The message's body. */
  readonly body: Uint8Array;
  readonly response: DestinationResponse;
  /** Retries that were made before this attempt. */
  readonly retried: number;
  /** The message's dead letter, where it is in the dead letter queue. */
  readonly dlqId?: string | undefined;
}

/** A callback as its kind makes it. */
export interface KindOfCallback {
  readonly workflow: WorkflowPart;
  /** @param maxBytes the callback's size; a body that does not fit is cut */
  readonly bodyOf: (details: CallbackDetails, maxBytes: number) => Uint8Array;
}

/** The kind of a run's messages. All functions can be called again for the same message. */
export interface MessageKind {
  /**
   * Makes a message ready to be sent. Called when the message has its lanes, so it is sent right after this.
   *
   * @param body the message's own
   * @returns undefined where the message is to be dropped; `later` where there is no memory for its body now
   */
  readonly open: (
    message: Message,
    part: WorkflowPart,
    body: Uint8Array,
  ) => Promise<OpenedDelivery | 'later' | undefined>;
  /** Ends the step or the run of a message that is dropped. */
  readonly drop: (message: Message, part: WorkflowPart, account: Account) => Promise<void>;
  /** Stores the messages that need the whole response of an attempt that is about to be recorded. */
  readonly store: (made: MadeAttempt, part: WorkflowPart) => Promise<void>;
  /** Continues from the record of an attempt. */
  readonly release: (recorded: RecordedAttempt, part: WorkflowPart) => Promise<void>;
  readonly callback: (part: WorkflowPart) => KindOfCallback;
  /** Whether an answer says that nobody at the destination is told of the failure that a message tells. */
  readonly isUntold: (message: Message, part: WorkflowPart, response: DestinationResponse) => boolean;
  /** Ends the step or the run of a message that was given up. */
  readonly giveUp: (message: Message, part: WorkflowPart, why: 'deaths' | 'faults') => Promise<void>;
  /** Extends the lifetime of the rows that a message is made of. @param expiresAt Unix milliseconds */
  readonly extend: (message: Message, part: WorkflowPart, expiresAt: number) => Promise<void>;
}

let loadRuns: (() => Promise<MessageKind>) | undefined;

/**
 * Plugs in the kind of runs' messages.
 *
 * @param load is called for each message of a run: few messages are, so the code is loaded for the first
 */
export function plugInRuns(load: () => Promise<MessageKind>): void {
  loadRuns = load;
}

/** A message's kind, with the message's part in its run. */
export interface OwnKind {
  readonly kind: MessageKind;
  readonly part: WorkflowPart;
}

/**
 * Finds the kind of a message.
 *
 * @returns undefined for a message that is delivered as its row has it
 * @throws Error in a process into which no worker plugged the kind
 */
export async function kindOf({ workflow: part }: Pick<Message, 'workflow'>): Promise<OwnKind | undefined> {
  if (part === undefined) return undefined;
  if (loadRuns === undefined) throw new Error('Nothing is plugged in for messages of runs.');
  return { kind: await loadRuns(), part };
}

/** Removes the endpoint that an attempt went to from its URL group, unless it was added after the attempt. Safe to call again. */
export type RemoveEndpoint = (message: Message, attempt: Attempt) => Promise<void>;

/** What deliveries ask of URL groups. */
export interface GroupHooks {
  readonly removeEndpoint: RemoveEndpoint;
  /** Finds the signature of an endpoint as it was at most a minute ago. */
  readonly latestSignature: (message: Message, known: MessageSignature) => Promise<EndpointSignature>;
}

let loadGroups: (() => Promise<GroupHooks>) | undefined;

/** Plugs in the URL groups. @param load is called for each: few messages need it */
export function plugInGroups(load: () => Promise<GroupHooks>): void {
  loadGroups = load;
}

/** @throws Error in a process into which no worker plugged them */
export function groupHooks(): Promise<GroupHooks> {
  if (loadGroups === undefined) throw new Error('Nothing is plugged in for URL groups.');
  return loadGroups();
}
