/** Bulk operations in the background: their start, progress and end. Workers do them step by step: see `step.ts`. */
import type { Account } from '../account/account.ts';
import { HttpError, notFound, quote } from '../error/httpError.ts';
import { destinationRules } from '../destination/rulesOfDeployment.ts';
import { parseOverrides } from '../request/publishOptions.ts';
import { sendJob } from '../job/send.ts';
import { now } from '../shared/clock.ts';
import { newId } from '../shared/ids.ts';
import type { Answer } from '../wire/answers.ts';
import * as answers from '../wire/bulkAnswers.ts';
import { filterOf } from './filters.ts';
import { changeBulk, listBulks, loadBulk, putBulk, removeBulk, type Bulk } from './store/rows.ts';

const mostRunning = 5;

type BulkAnswer = Answer<typeof answers.bulk>;

async function find({ id }: Account, bulkId: string): Promise<Bulk> {
  const found = await loadBulk(id, bulkId);
  if (found === undefined)
    throw notFound('bulk_not_found', `There is no operation ${quote(bulkId)} in the background.`);
  return found;
}

/** @param most how many may run */
async function refuseAbove(most: number, { id }: Account): Promise<void> {
  const running = (await listBulks(id)).filter(({ state }) => state === 'running');
  if (running.length <= most) return;
  throw new HttpError(
    429,
    'bulk_limit_reached',
    `The account has ${mostRunning} bulk operations in the background, the most at one time; send this one again when another has ended, or stop one.`,
    { 'retry-after': '10' },
  );
}

export const sendStep = (accountId: string, { bulkId, step }: Bulk): Promise<void> =>
  sendJob({ kind: 'bulk', accountId, bulkId, step }, now());

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
  try {
    // Checked afterwards, because others may be started at the same time.
    await refuseAbove(mostRunning, account);
    await sendStep(account.id, bulk);
  } catch (error) {
    await removeBulk(account.id, bulkId);
    throw error;
  }
  return { bulkId };
}

const shown = (found: Bulk): BulkAnswer => answers.bulk.parse(found);

export const getBulks = async ({ id }: Account): Promise<Answer<typeof answers.bulks>> => ({
  operations: (await listBulks(id)).map(shown),
});

/** @throws HttpError 404 */
export const getBulk = async (account: Account, bulkId: string): Promise<BulkAnswer> =>
  shown(await find(account, bulkId));

/** Ends an operation after the step under way. @throws HttpError 404 */
export async function stopBulk(account: Account, bulkId: string): Promise<BulkAnswer> {
  await find(account, bulkId);
  await changeBulk(account.id, bulkId, ({ state }) =>
    state === 'running' ? { state: 'stopped' } : undefined,
  );
  return getBulk(account, bulkId);
}

/** Continues an operation that was stopped, has failed or has lost its job. @throws HttpError 404, 429 */
export async function resumeBulk(account: Account, bulkId: string): Promise<BulkAnswer> {
  const { state } = await find(account, bulkId);
  if (state === 'stopped' || state === 'failed') await refuseAbove(mostRunning - 1, account);
  // The step under way no longer counts, and the next one repeats it.
  const { after } = await changeBulk(account.id, bulkId, (found) =>
    found.state === 'done' ? undefined : { state: 'running', step: found.step + 1, error: undefined },
  );
  if (after !== undefined) await sendStep(account.id, after);
  return getBulk(account, bulkId);
}
