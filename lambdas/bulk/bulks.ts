/**
 * Bulk operations in the background: starting, showing and ending them. Workers do them step by step: see
 * `step.ts`.
 */
import type { Account } from '../account/account.ts';
import { HttpError, notFound, quote } from '../error/httpError.ts';
import { destinationRules } from '../destination/rulesOfDeployment.ts';
import { parseOverrides } from '../request/publishOptions.ts';
import { sendJob } from '../job/send.ts';
import { isRecent, minuteMs, now } from '../shared/clock.ts';
import { newId } from '../shared/ids.ts';
import type { Answer } from '../wire/answers.ts';
import * as answers from '../wire/bulkAnswers.ts';
import { filterOf } from './filters.ts';
import { changeBulk, listBulks, putBulk, removeBulk, type Bulk } from './store/rows.ts';

const mostRunning = 5;

type BulkAnswer = Answer<typeof answers.bulk>;

export const sendStep = (accountId: string, { bulkId, step }: Bulk): Promise<void> =>
  sendJob({ kind: 'bulk', accountId, bulkId, step }, now());

/** An operation without progress for this long has lost its job. Longer than a retry waits. */
const longestStepMs = 20 * minuteMs;

/** Lists the newest operations. One that has lost its job gets a new one. */
async function bulksOf({ id }: Account): Promise<readonly Bulk[]> {
  const found = await listBulks(id);
  const isStuck = ({ state, changedAt }: Bulk): boolean =>
    state === 'running' && !isRecent(changedAt, longestStepMs, now());
  await Promise.all(found.filter(isStuck).map((bulk) => sendStep(id, bulk)));
  return found;
}

async function begin(account: Account, bulk: Bulk, undo: () => Promise<unknown>): Promise<void> {
  try {
    // Others may have been started since the operation was stored.
    const running = (await bulksOf(account)).filter(({ state }) => state === 'running');
    if (running.length > mostRunning) {
      throw new HttpError(
        429,
        'bulk_limit_reached',
        `The account has ${mostRunning} bulk operations in the background, the most at one time; send this one again when another has ended, or stop one.`,
        { 'retry-after': '10' },
      );
    }
    await sendStep(account.id, bulk);
  } catch (error) {
    await undo();
    throw error;
  }
}

/**
 * Starts an operation on the entries that exist now.
 *
 * @throws HttpError 400 for an invalid filter, 429 at the account's limit, or as for a publish
 */
export async function startBulk(
  account: Account,
  operation: answers.BulkOperation,
  request: Pick<Bulk, 'query' | 'filters' | 'prefix' | 'config' | 'host'>,
): Promise<Answer<typeof answers.startedBulk>> {
  const createdAt = now();
  filterOf(operation, request.query);
  parseOverrides(request, account, await destinationRules(request.host, account), createdAt);
  const bulkId = newId('blk', createdAt);
  const own = { bulkId, operation, state: 'running', createdAt, changedAt: createdAt, ...request } as const;
  const bulk: Bulk = { ...own, done: 0, failed: 0, step: 0, ids: [], isRead: false, version: 0 };
  await putBulk(account.id, bulk);
  await begin(account, bulk, () => removeBulk(account.id, bulkId));
  return { bulkId };
}

const shown = (found: Bulk): BulkAnswer => answers.bulk.parse(found);

export const getBulks = async (account: Account): Promise<Answer<typeof answers.bulks>> => ({
  operations: (await bulksOf(account)).map(shown),
});

async function change({ id }: Account, bulkId: string, changesOf: Parameters<typeof changeBulk>[2]) {
  const { before, after } = await changeBulk(id, bulkId, changesOf);
  if (before === undefined)
    throw notFound('bulk_not_found', `There is no operation ${quote(bulkId)} in the background.`);
  return { before, after };
}

export const getBulk = async (account: Account, bulkId: string): Promise<BulkAnswer> =>
  shown((await change(account, bulkId, () => undefined)).before);

/** Stops an operation after its current step. @throws HttpError 404 */
export async function stopBulk(account: Account, bulkId: string): Promise<BulkAnswer> {
  const { before, after } = await change(account, bulkId, ({ state }) =>
    state === 'running' ? { state: 'stopped' } : undefined,
  );
  return shown(after ?? before);
}

/** Continues an operation that was stopped, has failed or has lost its job. @throws HttpError 404, 429 */
export async function resumeBulk(account: Account, bulkId: string): Promise<BulkAnswer> {
  // The outcome of the current step no longer counts, and the next step repeats it.
  const { before, after } = await change(account, bulkId, ({ state, step }) =>
    state === 'done' ? undefined : { state: 'running', step: step + 1, error: undefined },
  );
  if (after === undefined) return shown(before);
  const { state, error } = before;
  await begin(account, after, () =>
    change(account, bulkId, ({ step }) => (step === after.step ? { state, error } : undefined)),
  );
  return shown(after);
}
