import { limitsOf, type Account } from '../account/account.ts';
import { changesBetween, type Changes, type Values } from '../audit/changes.ts';
import type * as answers from '../wire/answers.ts';
import type { Answer } from '../wire/answers.ts';
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
import { whatIsInQueue } from './oldest.ts';
import { laneNames, listLanes, loadLane } from './store/lanes.ts';
import { cached } from '../shared/cached.ts';
import { showByName, type ShownPage } from '../list/pages.ts';
import { changeOrRefuse, type ChangedLane } from './slots/changeOrRefuse.ts';

const queueRecord = (lane: Lane): Answer<typeof answers.queue> => ({
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

/** @returns undefined for a queue that is not there, or was deleted */
async function loadQueue(accountId: string, name: string): Promise<Lane | undefined> {
  const lane = await loadLane(queueLane(accountId, name));
  return lane !== undefined && isThere(lane) ? lane : undefined;
}

/** The queues of an account by name, from behind a name on, or all. */
async function* queuesBehind(accountId: string, behind?: string): AsyncGenerator<Lane> {
  for await (const queue of listLanes(accountId, 'queue', { behind })) if (isThere(queue)) yield queue;
}

/** Lists the queues of an account by name. @throws HttpError 400 for a text that is no cursor of this list */
export const listQueues = (
  account: Account,
  cursor: string | undefined,
): Promise<ShownPage<Answer<typeof answers.queue>>> =>
  showByName(
    `${account.id}/queues`,
    cursor,
    (behind) => queuesBehind(account.id, behind),
    ({ name }) => name,
    queueRecord,
  );

/** @throws HttpError 404 */
export async function getQueue(account: Account, name: string): Promise<Answer<typeof answers.queue>> {
  const queue = await loadQueue(account.id, name);
  if (queue === undefined) throw noSuchQueue(name);
  return { ...queueRecord(queue), ...(await whatIsInQueue(queue)) };
}

/** The settings of a queue, for the audit trail. */
const settingsOf = (lane: Lane): Values => {
  const { parallelism, paused, circuit } = queueRecord(lane);
  return { parallelism, paused, circuit };
};
const changesOf = ({ before, after }: ChangedLane): Changes =>
  changesBetween(
    isThere(before) ? settingsOf(before) : undefined,
    after.isDeleted ? undefined : settingsOf(after),
  );

/** @throws HttpError 404 */
export async function depthsOfQueue(account: Account, name: string): Promise<readonly Depth[]> {
  const queue = await loadQueue(account.id, name);
  if (queue === undefined) throw noSuchQueue(name);
  return depthsOf(queue, now());
}

/**
 * Changes a queue that is there.
 *
 * @throws HttpError 404 or 503; nothing is changed then
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

/** An account's `max_delay` may have been longer when its messages were published: it is a year on the paid plan. */
const longestUsualDelayMs = 366 * dayMs;

/**
 * Deletes a queue. The messages that wait in its line are cancelled, and delayed ones when they come to it; those that are being
 * delivered go on.
 *
 * @throws HttpError 404 or 503
 */
export const deleteQueue = (account: Account, name: string): Promise<Changes> => {
  const longestDelayMs = Math.max(limitsOf(account).max_delay * secondMs, longestUsualDelayMs);
  return changeQueue(account, name, (queue, time) => deleted(queue, time, longestDelayMs));
};

/**
 * Pauses a queue: no message starts until it is resumed. One that has started goes on, its retries included.
 *
 * @throws HttpError 404 or 503
 */
export const pauseQueue = (account: Account, name: string): Promise<Changes> =>
  changeQueue(account, name, (queue, updatedAt) => ({ ...queue, isPaused: true, updatedAt }));

/** Resumes a queue. @throws HttpError 404 or 503 */
export const resumeQueue = (account: Account, name: string): Promise<Changes> =>
  changeQueue(account, name, (queue, updatedAt) => ({ ...queue, isPaused: false, updatedAt }));

/**
 * Creates a queue, or changes one; settings that are not given stay as they are.
 *
 * @param body JSON
 * @throws HttpError 400, 412 or 503; nothing is changed then
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

/** Reads the names of an account's queues; one that was deleted counts until its row has gone. */
export async function namesOfQueues(account: Account): Promise<ReadonlySet<string>> {
  const names = new Set<string>();
  for await (const name of laneNames(account.id, 'queue')) names.add(name);
  return names;
}

/**
 * Remembers for a minute the queues that this process has seen, so that a known one costs no call for each message. A queue that
 * was deleted meanwhile is made again by the next message that joins its line; within that minute `max_queues` is not asked.
 */
const seen = cached(minuteMs, (key: string) => {
  const [accountId = '', name = ''] = key.split('/');
  return loadQueue(accountId, name);
});

/** The requests of a batch to one queue share one read, also where the queue is not there. */
const circuitSettings = cached(secondMs, async (key: string) => ({ isOn: (await seen(key))?.isCircuitOn }));

/**
 * Whether the messages of a queue wait while their host is down; undefined where their account decides it. A change counts for
 * messages that are accepted a minute later at the latest.
 */
export async function circuitOfQueue(
  accountId: string,
  name: string | undefined,
): Promise<boolean | undefined> {
  if (name === undefined || !namePattern.test(name)) return undefined;
  return (await circuitSettings(`${accountId}/${name}`))?.isOn;
}

/** Queues that are read or created at the same time. */
const atOnce = 20;

/**
 * Creates the queues that are missing, the first of them where the limit does not allow all. Several processes that do so at
 * the same time do not see each other, and may exceed the limit.
 *
 * @returns the refusals of the others by name: 412
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

/**
 * Creates a queue if it is missing.
 *
 * @param name undefined for a message that goes through none
 * @throws HttpError 412
 */
export async function ensureQueue(account: Account, name: string | undefined): Promise<void> {
  if (name === undefined) return;
  const refusal = (await ensureQueues(account, [name])).get(name);
  if (refusal !== undefined) throw refusal;
}
