/**
 * The hosts by which the APIs of the deployment are called. Each API notes its own, in the accounts table because every region
 * has a replica of that: one row for each region and API, written in that region only.
 */
import { GetItemCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import * as z from 'zod/mini';
import { parseOwnHosts } from './addresses.ts';
import { minuteMs, secondMs } from '../shared/clock.ts';
import { apiHostsKey, apiNames, type ApiName } from '../aws/resources.ts';
import { settings } from '../aws/settings.ts';
import { dynamodb, getRows, toItem, unlessRefused, type Row } from '../aws/dynamodb.ts';
import { remembered } from '../table/remembered.ts';

const hostsRow = z.object({ hosts: z.array(z.string()) });
const hostsOf = (row: Row): readonly string[] => hostsRow.parse(row).hosts;

/** The latest hosts of one API are kept. It has one or two, and old ones from before it was deleted and made again. */
const mostHosts = 20;

/** A request waits this long at most for its API's host to be noted, which takes milliseconds. */
const memoryTimeoutMs = secondMs;

/**
 * The hosts of all APIs, as they were read within the last ten minutes; none until they can be read. Never rejects, and never
 * waits for more than two seconds.
 */
export const { get: apiHosts } = remembered({
  name: 'the hosts of the APIs',
  lifetimeMs: 10 * minuteMs,
  read: async () => {
    const keys = settings.regions.flatMap((region) =>
      apiNames.map((api) => ({ id: apiHostsKey(region, api) })),
    );
    const rows = await getRows(settings.accountsTable, keys, {});
    return parseOwnHosts(rows.flatMap(hostsOf));
  },
  untilRead: parseOwnHosts([]),
});

/**
 * Notes a host of an API of this region. Noting it twice changes nothing. Where two hosts are noted at the same time, one may be
 * lost until its next call.
 *
 * @throws when it cannot be noted within a second
 */
export async function noteApiHost(api: ApiName, host: string): Promise<void> {
  const options = { abortSignal: AbortSignal.timeout(memoryTimeoutMs) };
  const place = {
    TableName: settings.accountsTable,
    Key: toItem({ id: apiHostsKey(settings.region, api) }),
  };
  const { Item } = await dynamodb.send(new GetItemCommand({ ...place, ConsistentRead: true }), options);
  const before = Item === undefined ? undefined : hostsOf(unmarshall(Item));
  if (before?.includes(host) === true) return;
  const hosts = [...(before ?? []), host].slice(-mostHosts);
  await unlessRefused(
    dynamodb.send(
      new UpdateItemCommand({
        ...place,
        UpdateExpression: 'SET hosts = :hosts',
        ConditionExpression: before === undefined ? 'attribute_not_exists(id)' : 'hosts = :before',
        ExpressionAttributeValues: toItem({ ':hosts': hosts, ':before': before }),
      }),
      options,
    ),
  );
}
