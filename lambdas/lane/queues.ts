import { limitsOf, type Account } from '../account/account.ts';
import { changesBetween, type Changes, type Values } from '../audit/changes.ts';
import type { QueueAnswer } from '../wire/laneAnswers.ts';
import { dayMs, minuteMs, now, secondMs } from '../shared/clock.ts';
import { notFound, overLimit, quote, type HttpError } from '../error/httpError.ts';
import { parseShape } from '../shared/json.ts';
import { deleted } from './rules/cancelling.ts';
import { depthsOf, type Depth } from './rules/depths.ts';
import { asQueue, inFlightIn, isThere, queueLane, waitingIn, type Lane } from './lane.ts';
import { namePattern, parseName } from '../value/names.ts';
import { eachOf } from '../shared/lists.ts';
import { queueSettings } from '../wire/requests.ts';
import { show as showCircuit } from '../options/circuit.ts';
import { whatIsInQueue } from './line/oldest.ts';
import { laneNames, listLanes, loadLane } from './store/laneRows.ts';
import { cached } from '../shared/cached.ts';
import { showByName, type ShownPage } from '../list/pages.ts';
import { changeOrRefuse, type ChangedLane } from './slots/changeOrRefuse.ts';

const queueRecord = (lane: Lane): QueueAnswer => ({
  name: lane.name,
  createdAt: lane.createdAt,
  updatedAt: lane.updatedAt,
  parallelism: lane.parallelism ?? 1,
  paused: lane.isPaused,
  ...showCircuit(lane.isCircuitOn),
  lag: waitingIn(lane) + inFlightIn(lane),
});

const noSuchQueue = (name: string): HttpError =>
  notFound('queue_not_found', `There is no queue ${quote(name)}.`);

/** @param queues how many the account has */
const tooManyQueues = (account: Account, queues: number): HttpError =>
  overLimit(
    'queue_limit_reached',
    `The queue would be number ${queues + 1}, but the account's limit max_queues is ${limitsOf(account).max_queues}.`,
  );

/** @returns undefined if the queue does not exist */
async function loadQueue(accountId: string, name: string): Promise<Lane | undefined> {
  const lane = await loadLane(queueLane(accountId, name));
  return lane !== undefined && isThere(lane) ? lane : undefined;
}

/** Yields an account's queues by name, after `behind` if given. */
async function* queuesBehind(accountId: string, behind?: string): AsyncGenerator<Lane> {
  for await (const queue of listLanes(accountId, 'queue', { behind })) if (isThere(queue)) yield queue;
}

/** Lists an account's queues by name. @throws HttpError 400 for an invalid cursor */
export const listQueues = (account: Account, cursor: string | undefined): Promise<ShownPage<QueueAnswer>> =>
  showByName(
    `${account.id}/queues`,
    cursor,
    (behind) => queuesBehind(account.id, behind),
    ({ name }) => name,
    queueRecord,
  );

export async function getQueue(account: Account, name: string): Promise<QueueAnswer> {
  const queue = await loadQueue(account.id, name);
  if (queue === undefined) throw noSuchQueue(name);
  return { ...queueRecord(queue), ...(await whatIsInQueue(queue)) };
}

const settingsOf = (lane: Lane): Values => {
  const { parallelism, paused, circuit } = queueRecord(lane);
  return { parallelism, paused, circuit };
};
const changesOf = ({ before, after }: ChangedLane): Changes =>
  changesBetween(
    isThere(before) ? settingsOf(before) : undefined,
    after.isDeleted ? undefined : settingsOf(after),
  );

export async function depthsOfQueue(account: Account, name: string): Promise<readonly Depth[]> {
  const queue = await loadQueue(account.id, name);
  if (queue === undefined) throw noSuchQueue(name);
  return depthsOf(queue, now());
}

/**
 * Changes an existing queue.
 *
 * @throws HttpError 404 or 503
 */
async function changeQueue(
  account: Account,
  name: string,
  change: (queue: Lane, now: number) => Lane,
): Promise<Changes> {
  const changed = await changeOrRefuse(queueLane(account.id, name), (lane, time) => {
    if (!isThere(lane)) throw noSuchQueue(name);
    return change(lane, time);
  });
  return changesOf(changed);
}

/**
 * How long a deleted queue's row is kept, at least, for its delayed messages. The account's `max_delay` may
 * have been higher when they were published.
 */
const longestUsualDelayMs = 366 * dayMs;

/**
 * Deletes a queue. Waiting messages are cancelled, delayed ones when they are due. Deliveries in flight
 * continue.
 *
 * @throws HttpError 404 or 503
 */
export const deleteQueue = (account: Account, name: string): Promise<Changes> => {
  const longestDelayMs = Math.max(limitsOf(account).max_delay * secondMs, longestUsualDelayMs);
  return changeQueue(account, name, (queue, time) => deleted(queue, time, longestDelayMs));
};

/**
 * Pauses a queue. Messages that have started continue, with their retries.
 *
 * @throws HttpError 404 or 503
 */
export const pauseQueue = (account: Account, name: string): Promise<Changes> =>
  changeQueue(account, name, (queue, updatedAt) => ({ ...queue, isPaused: true, updatedAt }));

export const resumeQueue = (account: Account, name: string): Promise<Changes> =>
  changeQueue(account, name, (queue, updatedAt) => ({ ...queue, isPaused: false, updatedAt }));

/**
 * Creates a queue or changes its settings. Omitted settings stay the same.
 *
 * @param body JSON
 * @throws HttpError 400, 412 or 503
 */
export async function putQueue(account: Account, body: Uint8Array): Promise<Changes> {
  const allowed =
    '{"queueName", "parallelism"?, "paused"?, "circuit"?}, with a whole number of at least 1 as the parallelism, and "on", "off" or null as the circuit';
  const { queueName, parallelism, paused, circuit } = parseShape('The body', body, queueSettings, allowed);
  const name = parseName('queueName', queueName);
  const limits = limitsOf(account);
  if (parallelism !== undefined && parallelism > limits.max_parallelism) {
    throw overLimit(
      'parallelism_over_limit',
      `parallelism is ${parallelism}, but the account's limit max_parallelism is ${limits.max_parallelism}.`,
    );
  }
  if ((await loadQueue(account.id, name)) === undefined) {
    const there = await namesOfQueues(account);
    if (!there.has(name) && there.size >= limits.max_queues) throw tooManyQueues(account, there.size);
  }
  const changed = await changeOrRefuse(queueLane(account.id, name), (lane, time) => {
    const queue = asQueue(lane, time);
    return {
      ...queue,
      parallelism: parallelism ?? queue.parallelism,
      isPaused: paused ?? queue.isPaused,
      isCircuitOn:
        circuit === undefined ? queue.isCircuitOn : circuit === null ? undefined : circuit === 'on',
      updatedAt: time,
    };
  });
  return changesOf(changed);
}

/** Finds the names that count for `max_queues`. A deleted queue counts until its row is removed. */
export async function namesOfQueues(account: Account): Promise<ReadonlySet<string>> {
  const names = new Set<string>();
  for await (const name of laneNames(account.id, 'queue')) names.add(name);
  return names;
}

/**
 * Queues that existed in the last minute. If one was deleted since, the next message creates it again without
 * a check of `max_queues`.
 */
const seen = cached(minuteMs, (key: string) => {
  const [accountId = '', name = ''] = key.split('/');
  return loadQueue(accountId, name);
});

/** The requests of a batch share one read, even of a missing queue. */
const circuitSettings = cached(secondMs, async (key: string) => ({ isOn: (await seen(key))?.isCircuitOn }));

/** Whether a queue's messages wait while their host is down; undefined if the account decides. At most a minute old. */
export async function circuitOfQueue(
  accountId: string,
  name: string | undefined,
): Promise<boolean | undefined> {
  if (name === undefined || !namePattern.test(name)) return undefined;
  return (await circuitSettings(`${accountId}/${name}`))?.isOn;
}

const atOnce = 20;

/**
 * Creates missing queues. Concurrent processes may exceed the limit.
 *
 * @returns the 412 refusal of each queue that could not be created
 */
export async function ensureQueues(
  account: Account,
  names: readonly string[],
): Promise<ReadonlyMap<string, HttpError>> {
  const missing = new Set(names);
  await eachOf([...missing], atOnce, async (name) => {
    if ((await seen(`${account.id}/${name}`)) !== undefined) missing.delete(name);
  });
  const refusals = new Map<string, HttpError>();
  if (missing.size === 0) return refusals;

  const there = await namesOfQueues(account);
  for (const name of there) missing.delete(name);
  const left = Math.max(0, limitsOf(account).max_queues - there.size);
  const created = [...missing].slice(0, left);
  await eachOf(created, atOnce, async (name) => {
    await changeOrRefuse(queueLane(account.id, name), asQueue);
  });
  for (const name of [...missing].slice(left)) {
    refusals.set(name, tooManyQueues(account, there.size + created.length));
  }
  return refusals;
}

export async function ensureQueue(account: Account, name: string | undefined): Promise<void> {
  if (name === undefined) return;
  const refusal = (await ensureQueues(account, [name])).get(name);
  if (refusal !== undefined) throw refusal;
}
