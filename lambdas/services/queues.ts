import { limitsOf, type Account } from '../domain/account.ts';
import type * as answers from '../domain/answers.ts';
import type { Answer } from '../domain/answers.ts';
import { minuteMs, now } from '../domain/clock.ts';
import { notFound, overLimit, quote, type HttpError } from '../domain/httpError.ts';
import { parseShape } from '../domain/json.ts';
import { eachOf } from '../domain/lists.ts';
import { parseName } from '../domain/names.ts';
import { newQueue, type Queue } from '../domain/queue.ts';
import { queueSettings } from '../domain/requests.ts';
import {
  deleteQueue as deleteStored,
  listQueues as listStored,
  loadQueue,
  saveQueue,
} from '../stores/queues.ts';
import { cached } from './cached.ts';
import { changing } from './changing.ts';

const record = ({ name, createdAt, updatedAt, parallelism }: Queue): Answer<typeof answers.queue> => ({
  name,
  createdAt,
  updatedAt,
  parallelism,
});

const noSuchQueue = (name: string): HttpError => notFound(`There is no queue ${quote(name)}.`);

/** @param there how many queues the account has */
const noRoom = (account: Account, there: number): HttpError =>
  overLimit(
    `The queue would be number ${there + 1}, but the account's limit max_queues is ${limitsOf(account).max_queues}.`,
  );

export async function listQueues(account: Account): Promise<Answer<typeof answers.queues>> {
  const queues = await listStored(account.id);
  return queues.map(record);
}

/** @throws HttpError 404 */
export async function getQueue(account: Account, name: string): Promise<Answer<typeof answers.queue>> {
  const queue = await loadQueue(account.id, name);
  if (queue === undefined) throw noSuchQueue(name);
  return record(queue);
}

/**
 * Deletes a queue. Messages that carry its name are delivered as if it were there.
 *
 * @throws HttpError 404
 */
export async function deleteQueue(account: Account, name: string): Promise<void> {
  if (!(await deleteStored(account.id, name))) throw noSuchQueue(name);
}

/**
 * Creates a queue, or changes one; what is not given stays as it is.
 *
 * @param body JSON
 * @throws HttpError 400, 412 or 503; nothing is changed then
 */
export async function putQueue(account: Account, body: Uint8Array): Promise<void> {
  const allowed = '{"queueName", "parallelism"?}, with a whole number of at least 1 as the parallelism';
  const { queueName, parallelism } = parseShape('The body', body, queueSettings, allowed);
  const name = parseName('queueName', queueName);
  const limits = limitsOf(account);
  if (parallelism !== undefined && parallelism > limits.max_parallelism) {
    throw overLimit(
      `parallelism is ${parallelism}, but the account's limit max_parallelism is ${limits.max_parallelism}.`,
    );
  }
  await changing(`The queue ${quote(name)}`, async () => {
    const before = await loadQueue(account.id, name);
    if (before === undefined) {
      const there = await listStored(account.id);
      const isThere = there.some((queue) => queue.name === name);
      if (!isThere && there.length >= limits.max_queues) throw noRoom(account, there.length);
    }
    const time = now();
    const queue = before ?? newQueue(account.id, name, time);
    const after = {
      ...queue,
      parallelism: parallelism ?? queue.parallelism,
      updatedAt: time,
      version: (before?.version ?? 0) + 1,
    };
    return (await saveQueue(after, before?.version)) ? after : undefined;
  });
}

/**
 * The queues that this process has seen, so that a known one costs no call for each message. One that was deleted since is
 * created again by the next enqueue once the minute is over, or sooner by one that comes to a process that has not seen
 * it. Until then messages carry the name of a queue that is not there, as those do that are older than its end.
 */
const seen = cached(minuteMs, (key: string) => {
  const [accountId = '', name = ''] = key.split('/');
  return loadQueue(accountId, name);
});

/** How many queues are looked up or created at once. */
const atOnce = 20;

/**
 * Creates those queues that are missing, the first of them where there is not room for all. (Several processes that do
 * so at once do not see each other, and may create more than the limit allows.)
 *
 * @returns why not, by name, for those that were refused: 412
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

  const there = await listStored(account.id);
  for (const { name } of there) missing.delete(name);
  const room = Math.max(0, limitsOf(account).max_queues - there.length);
  const created = [...missing].slice(0, room);
  await eachOf(created, atOnce, async (name) => {
    // Where somebody else was faster, it is there as well.
    await saveQueue(newQueue(account.id, name, now()), undefined);
  });
  for (const name of [...missing].slice(room)) {
    refusals.set(name, noRoom(account, there.length + created.length));
  }
  return refusals;
}

/**
 * Creates a queue that is missing.
 *
 * @param name undefined for a message that goes through none
 * @throws HttpError 412
 */
export async function ensureQueue(account: Account, name: string | undefined): Promise<void> {
  if (name === undefined) return;
  const refusal = (await ensureQueues(account, [name])).get(name);
  if (refusal !== undefined) throw refusal;
}
