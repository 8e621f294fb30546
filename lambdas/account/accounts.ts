/**
 * The accounts table, with a replica in every region. A row is written only in its account's region, if it
 * has not changed since it was read there. So a row is never written in two regions.
 */
import { retryOnConflict } from '../aws/retryOnConflict.ts';
import { HttpError } from '../error/httpError.ts';
import {
  GetItemCommand,
  ScanCommand,
  type ScanCommandInput,
  type ScanCommandOutput,
} from '@aws-sdk/client-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import { storedAccount, type Account } from './account.ts';
import { dayMs, epochSeconds } from '../shared/clock.ts';
import { settings } from '../aws/settings.ts';
import { dynamodbIn, type Key, type Row } from '../aws/dynamodb.ts';
import { put, unlessRefused, ifNew } from '../aws/writes.ts';

const accountOf = (row: Row): Account => ({
  ...storedAccount.parse(row),
  longestTimeout: settings.longestTimeoutSeconds,
});

const lastRead = new Map<string, { readonly text: string; readonly account: Account }>();

const mostKept = 1_000;

/** Each request reads a row, but rows rarely change. So an item is parsed only if it has changed. */
function readItem(id: string, item: Key): Account {
  const text = JSON.stringify(item);
  const known = lastRead.get(id);
  if (known?.text === text) return known.account;
  const account = accountOf(unmarshall(item));
  lastRead.delete(id);
  lastRead.set(id, { text, account });
  const [oldest] = lastRead.keys();
  if (lastRead.size > mostKept && oldest !== undefined) lastRead.delete(oldest);
  return account;
}

/** The time limit for a read in another region, so that time is left for the answer. */
const callTimeoutMs = 5_000;

/**
 * @param consistent whether very recent changes must be seen, as for a token; doubles the cost
 * @param region the region whose replica is read
 */
export async function loadAccount(
  id: string,
  consistent: boolean,
  region: string = settings.region,
): Promise<Account | undefined> {
  // The id comes from a token that is not verified yet. Keys with `#` are rows of API hosts and named tokens.
  if (id.includes('#')) return undefined;
  const { Item } = await dynamodbIn(region).send(
    new GetItemCommand({
      TableName: settings.accountsTable,
      Key: { id: { S: id } },
      ConsistentRead: consistent,
    }),
    // With any options the client would rebuild its middleware stack.
    region === settings.region ? undefined : { abortSignal: AbortSignal.timeout(callTimeoutMs) },
  );
  return Item && readItem(id, Item);
}

/** How long a deleted account is shown. Then its row expires. */
const deletedShownMs = 90 * dayMs;

/**
 * Replaces an account that was read in its own region.
 *
 * @param read undefined if there was none
 * @returns false, without a change, if the account was changed since
 */
export function saveAccount(account: Account, read: Account | undefined): Promise<boolean> {
  const region = read?.region ?? account.region;
  const expiresAt =
    account.deletedAt === undefined ? undefined : epochSeconds(account.deletedAt + deletedShownMs);
  return unlessRefused(
    put(
      settings.accountsTable,
      { ...account, scope: undefined, longestTimeout: undefined, expiresAt },
      read === undefined
        ? ifNew
        : {
            onlyIf: '#region = :region AND (#version = :version OR attribute_not_exists(#version))',
            values: { region, version: read.version },
          },
      dynamodbIn(region),
    ),
  );
}

/**
 * Lists the accounts that a region serves, in the order of their ids' hashes.
 *
 * @param replica the region that is read; if it is another one, the latest changes may be missing
 */
export async function* accountsOf(
  region: string,
  replica: string,
  afterId: string | undefined,
): AsyncGenerator<Account> {
  const input: ScanCommandInput = {
    TableName: settings.accountsTable,
    ConsistentRead: true,
    FilterExpression: '#region = :region',
    ExpressionAttributeNames: { '#region': 'region' },
    ExpressionAttributeValues: { ':region': { S: region } },
  };
  let from: ScanCommandOutput['LastEvaluatedKey'] =
    afterId === undefined ? undefined : { id: { S: afterId } };
  do {
    const page: ScanCommandOutput = await dynamodbIn(replica).send(
      new ScanCommand({ ...input, ExclusiveStartKey: from }),
      { abortSignal: AbortSignal.timeout(callTimeoutMs) },
    );
    for (const item of page.Items ?? []) yield accountOf(unmarshall(item));
    from = page.LastEvaluatedKey;
  } while (from !== undefined);
}

const refusal = 'The account is being changed by others; send the request again.';

/**
 * Changes fields in the account's row. The first try uses the account as this request read it.
 *
 * @param to returns undefined for no change
 * @returns the account after the change
 * @throws HttpError from `to`, or 503
 */
export function changeAccount(
  account: Account,
  to: (before: Account) => Partial<Account> | undefined,
): Promise<Account> {
  let known: Account | undefined = account;
  return retryOnConflict(refusal, async () => {
    const before = known ?? (await loadAccount(account.id, true));
    known = undefined;
    if (before === undefined) throw new HttpError(503, 'busy', refusal);
    const changed = to(before);
    if (changed === undefined) return before;
    const after = { ...before, ...changed, version: before.version + 1 };
    return (await saveAccount(after, before)) ? after : undefined;
  });
}
