/**
 * Ordinary messages and callbacks are delivered as stored. A run's messages are made from the run's journal
 * when they are sent, and then the run continues. Lanes and deliveries use workflows through this interface;
 * the worker plugs them in.
 */
import type { Account } from '../account/account.ts';
import type { DestinationResponse } from '../destination/response.ts';
import type { EndpointSignature, MessageSignature } from '../account/endpointSecrets.ts';
import type { MadeAttempt, RecordedAttempt } from './history.ts';
import type { Attempt, Message, WorkflowPart } from './message.ts';

export interface OpenedDelivery {
  /** The message, with all headers. */
  readonly message: Message;
  readonly body: Uint8Array;
  /**
   * Finds an error in an answer that is not retried.
   *
   * @param maxBytes the account's largest message
   */
  readonly errorOf: (response: DestinationResponse, maxBytes: number) => string | undefined;
  /** Frees the memory of the body after it was sent. A second call does nothing. */
  readonly release: () => void;
}

export interface CallbackDetails {
  readonly message: Message;
  readonly body: Uint8Array;
  readonly response: DestinationResponse;
  /** How many retries were made before this attempt. */
  readonly retried: number;
  readonly dlqId?: string | undefined;
}

export interface KindOfCallback {
  readonly workflow: WorkflowPart;
  /** @param maxBytes a larger body is truncated */
  readonly bodyOf: (details: CallbackDetails, maxBytes: number) => Uint8Array;
}

/** A kind of message: that of a run. Each function may be called again for the same message. */
export interface MessageKind {
  /**
   * Prepares a message right before it is sent.
   *
   * @param body as it is stored
   * @returns undefined to drop the message; `later` if there is not enough memory for its body now
   */
  readonly open: (
    message: Message,
    part: WorkflowPart,
    body: Uint8Array,
  ) => Promise<OpenedDelivery | 'later' | undefined>;
  /** Ends the step or run of a dropped message. */
  readonly drop: (message: Message, part: WorkflowPart, account: Account) => Promise<void>;
  /** Stores the messages that contain the whole response, before the attempt is recorded. */
  readonly store: (made: MadeAttempt, part: WorkflowPart) => Promise<void>;
  readonly release: (recorded: RecordedAttempt, part: WorkflowPart) => Promise<void>;
  readonly callback: (part: WorkflowPart) => KindOfCallback;
  /** Whether the answer to a failure callback shows that the endpoint ignores it. */
  readonly isUntold: (message: Message, part: WorkflowPart, response: DestinationResponse) => boolean;
  /** Ends the step or run of a message that is given up. */
  readonly giveUp: (message: Message, part: WorkflowPart, why: 'deaths' | 'faults') => Promise<void>;
  /** Extends the lifetime of a message's rows. @param expiresAt Unix milliseconds */
  readonly extend: (message: Message, part: WorkflowPart, expiresAt: number) => Promise<void>;
}

let loadRuns: (() => Promise<MessageKind>) | undefined;

/** @param load called for each message of a run, so that the code is loaded on first use */
export function plugInRuns(load: () => Promise<MessageKind>): void {
  loadRuns = load;
}

interface OwnKind {
  readonly kind: MessageKind;
  readonly part: WorkflowPart;
}

/**
 * @returns undefined for an ordinary message
 * @throws Error if no worker plugged in workflows
 */
export async function kindOf({ workflow: part }: Pick<Message, 'workflow'>): Promise<OwnKind | undefined> {
  if (part === undefined) return undefined;
  if (loadRuns === undefined) throw new Error('No kind for messages of runs is plugged in.');
  return { kind: await loadRuns(), part };
}

/** Removes an endpoint from its URL group, unless it was added after the message. May be repeated. */
export type RemoveEndpoint = (message: Message, attempt: Attempt) => Promise<void>;

export interface GroupHooks {
  readonly removeEndpoint: RemoveEndpoint;
  /** The signature of an endpoint, at most a minute old. */
  readonly latestSignature: (message: Message, known: MessageSignature) => Promise<EndpointSignature>;
}

let loadGroups: (() => Promise<GroupHooks>) | undefined;

export function plugInGroups(load: () => Promise<GroupHooks>): void {
  loadGroups = load;
}

/** @throws Error if no worker plugged in URL groups */
export function groupHooks(): Promise<GroupHooks> {
  if (loadGroups === undefined) throw new Error('No hooks for URL groups are plugged in.');
  return loadGroups();
}
