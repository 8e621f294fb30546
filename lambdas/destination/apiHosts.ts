/**
 * The hosts of the deployment's APIs, in the accounts table, which every region replicates: one row for each region and API,
 * written only in that region.
 */
import { GetItemCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import * as z from 'zod/mini';
import { parseOwnHosts } from './addresses.ts';
import { minuteMs, secondMs } from '../shared/clock.ts';
import { apiHostsKey, apiNames, type ApiName } from '../aws/resources.ts';
import { settings } from '../aws/settings.ts';
import { dynamodb, getRows, toItem, type Row } from '../aws/dynamodb.ts';
import { remembered } from '../table/remembered.ts';
import { outcomeOf, updateInput } from '../aws/writes.ts';

const hostsRow = z.object({ hosts: z.array(z.string()) });
const hostsOf = (row: Row): readonly string[] => hostsRow.parse(row).hosts;

/** An API has one or two hosts, and old ones if it was deleted and created again. */
const mostHosts = 20;

/** Noting a host takes milliseconds. */
const noteTimeoutMs = secondMs;

/** At most ten minutes old; empty until they are read. Never rejects, and waits at most two seconds. */
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
 * Notes an API's host in this region. If two are noted at the same time, one may be lost until its next call.
 *
 * @throws if it takes over a second
 */
export async function noteApiHost(api: ApiName, host: string): Promise<void> {
  const options = { abortSignal: AbortSignal.timeout(noteTimeoutMs) };
  const key = { id: apiHostsKey(settings.region, api) };
  const { Item } = await dynamodb.send(
    new GetItemCommand({ TableName: settings.accountsTable, Key: toItem(key), ConsistentRead: true }),
    options,
  );
  const before = Item === undefined ? undefined : hostsOf(unmarshall(Item));
  if (before?.includes(host) === true) return;
  const hosts = [...(before ?? []), host].slice(-mostHosts);
  const input = updateInput(settings.accountsTable, key, 'SET hosts = :hosts', {
    onlyIf: before === undefined ? 'attribute_not_exists(id)' : 'hosts = :before',
    values: { hosts, before },
  });
  await outcomeOf(dynamodb.send(new UpdateItemCommand(input), options));
}
