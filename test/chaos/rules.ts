/** The rules that must hold in the end. Each takes the evidence, and describes violations as sentences. */
import type { Ledger } from './ledger.ts';
import { mayBeSuccess, type Answer, type CallbackArrival } from './receivers.ts';

export interface ShownMessage {
  readonly messageId: string;
  readonly url: string;
  readonly state: string;
}

/** Everything that is known in the end. */
export interface Evidence {
  readonly ledger: Ledger;
  /** The destinations' answers to each message's attempts, by id. */
  readonly answers: ReadonlyMap<string, readonly Answer[]>;
  readonly callbacks: readonly CallbackArrival[];
  readonly shown: readonly ShownMessage[];
  readonly deadIds: ReadonlySet<string>;
  /**
   * Callbacks in the dead letter queue that no receiver got, because each worker that was sending them was
   * killed.
   */
  readonly deadCallbacks: readonly CallbackArrival[];
  /** The accepted runs' states, by id; undefined if the log has none. */
  readonly runStates: ReadonlyMap<string, string | undefined>;
  readonly starts: number;
  readonly lanes: readonly LaneInTheEnd[];
}

export interface LaneInTheEnd {
  /** Such as "The queue queue-1". */
  readonly name: string;
  readonly waiting: number;
  readonly inFlight: number;
  /** Whether a final message passed through it. */
  readonly isOpen: boolean;
}

type Rule = (evidence: Evidence) => readonly string[];

/** @returns the broken rules, as sentences */
export const broken: Rule = (evidence) =>
  [
    unexpectedAnswers,
    leftMessages,
    acceptedMessages,
    owedCallbacks,
    missingFires,
    openRuns,
    stuckLanes,
  ].flatMap((rule) => rule(evidence));

export const unexpectedAnswers: Rule = ({ ledger }) =>
  ledger.unexpected.map((answer) => `An answer that a sound request never gets: ${answer}`);

const ended = new Set(['DELIVERED', 'FAILED', 'CANCELED']);

/**
 * No message waits for ever, with three exceptions, which end when their rows expire:
 *
 * - A message whose publisher was killed before it sent the work. Its client got no answer.
 * - A callback whose worker was killed before it recorded the attempt, if the repeated attempt had another result, or the run
 *   was cancelled. `owedCallbacks` and `openRuns` find missing callbacks.
 * - A fire whose worker was killed, and whose schedule was deleted before the fire was retried.
 */
export const leftMessages: Rule = ({ shown, ledger }) => {
  const hasCancelledRuns = [...ledger.runs].some((runId) => ledger.cancelAsked.has(runId));
  return shown.flatMap(({ messageId, url, state }) => {
    if (ended.has(state)) return [];
    const schedule = /\/s\/([\w-]+)$/.exec(url)?.[1];
    const mayBeLeft =
      schedule === undefined
        ? /\/(m\/\d+|callback|failure)$/.test(url) || (hasCancelledRuns && url.endsWith('/flow'))
        : ledger.mayLeaveMessages.has(schedule);
    return mayBeLeft && state === 'CREATED' && !ledger.accepted.has(messageId)
      ? []
      : [`Message ${messageId} to ${url} is ${state} for ever.`];
  });
};

/**
 * An accepted message is delivered if an attempt succeeded; otherwise it is dead, retried from the dead letter queue, or
 * cancelled by a client.
 */
export const acceptedMessages: Rule = ({ ledger, answers, shown, deadIds }) => {
  const byId = new Map(shown.map((message) => [message.messageId, message]));
  return [...ledger.accepted.values()].flatMap(({ messageId, number }) => {
    const message = byId.get(messageId);
    const got = answers.get(messageId) ?? [];
    const told = `Message ${messageId} (number ${number}, answered ${got.join(' ') || 'never'})`;
    if (message === undefined) return [`${told} was accepted, and is nowhere.`];
    if (message.state === 'DELIVERED' && !got.some(mayBeSuccess)) {
      return [`${told} counts as delivered, and no attempt succeeded.`];
    }
    if (message.state === 'FAILED' && !deadIds.has(messageId)) {
      const isSentAgain = shown.some((other) => other.url === message.url && other.messageId > messageId);
      if (!ledger.retried.has(messageId)) return [`${told} failed, and is not in the dead letter queue.`];
      if (!isSentAgain) return [`${told} was taken out of the dead letter queue, and was not sent again.`];
    }
    if (message.state === 'CANCELED' && !ledger.cancelAsked.has(messageId)) {
      return [`${told} is cancelled, and nobody asked for it.`];
    }
    if (ledger.cancelled.has(messageId) && message.state === 'FAILED' && !ledger.retried.has(messageId)) {
      return [`${told} was cancelled while it waited, and failed all the same.`];
    }
    return [];
  });
};

/** Callbacks report what happened to their messages, or end in the dead letter queue. */
export const owedCallbacks: Rule = ({ ledger, answers, callbacks, deadCallbacks, shown }) => {
  const states = new Map(shown.map(({ messageId, state }) => [messageId, state]));
  const succeeded = new Set<string>();
  const failed = new Set<string>();
  const told = new Set<string>();
  for (const { sourceMessageId, status, isFailure } of [...callbacks, ...deadCallbacks]) {
    if (isFailure) failed.add(sourceMessageId);
    else {
      told.add(sourceMessageId);
      if (status >= 200 && status < 300) succeeded.add(sourceMessageId);
    }
  }
  return [...ledger.accepted.values()].flatMap(({ messageId, number, hasCallback, hasFailureCallback }) => {
    const state = states.get(messageId);
    const name = `Message ${messageId} (number ${number})`;
    const got = answers.get(messageId) ?? [];
    const owed: string[] = [];
    if (hasCallback && state === 'DELIVERED' && !succeeded.has(messageId)) {
      owed.push(`${name} was delivered, and its callback was not told.`);
    }
    if (hasCallback && state === 'FAILED' && got.length > 0 && !told.has(messageId)) {
      owed.push(`${name} failed, and its callback was not told.`);
    }
    if (hasFailureCallback && state === 'FAILED' && !failed.has(messageId)) {
      owed.push(`${name} failed, and its failure callback was not told.`);
    }
    if (succeeded.has(messageId) && !got.some(mayBeSuccess)) {
      owed.push(`The callback of ${name} tells a success that there was not.`);
    }
    return owed;
  });
};

const minuteMs = 60_000;

/** A schedule fires every minute, except while the stage is down. */
export const missingFires: Rule = ({ ledger, shown, starts }) =>
  [...ledger.schedules.values()].flatMap(({ id, createdAt, deletedAt, createdIn }) => {
    const minutes = Math.floor(((deletedAt ?? createdAt) - createdAt) / minuteMs) - 1;
    const least = minutes - (starts - createdIn);
    const made = shown.filter(({ url }) => url.endsWith(`/s/${id}`)).length;
    return made >= least ? [] : [`The schedule ${id} made ${made} messages where ${least} are the least.`];
  });

const runEnds = new Set(['RUN_SUCCESS', 'RUN_FAILED', 'RUN_CANCELED']);

/** An accepted run has ended. It was cancelled only if a client asked for it, and a lasting run has succeeded. */
export const openRuns: Rule = ({ ledger, runStates }) =>
  [...ledger.runs].flatMap((runId) => {
    const state = runStates.get(runId) ?? 'nowhere';
    if (!runEnds.has(state) || (ledger.lastingRuns.has(runId) && state !== 'RUN_SUCCESS')) {
      return [`The run ${runId} was accepted, and is ${state}.`];
    }
    return state === 'RUN_CANCELED' && !ledger.cancelAsked.has(runId)
      ? [`The run ${runId} is cancelled, and nobody asked for it.`]
      : [];
  });

/** No message waits or is in flight in a lane, and each lane lets a final message through. */
export const stuckLanes: Rule = ({ lanes }) =>
  lanes.flatMap(({ name, waiting, inFlight, isOpen }) => [
    ...(waiting > 0 || inFlight > 0 ? [`${name} has ${waiting} that wait and ${inFlight} in flight.`] : []),
    ...(isOpen ? [] : [`${name} lets nothing through.`]),
  ]);
