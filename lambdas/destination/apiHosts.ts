/**
 * The hosts of the deployment's APIs, in the accounts table, which is replicated to all regions. Each region
 * and API has a row, which is written only in that region.
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

/** Recording a host usually takes milliseconds. */
const noteTimeoutMs = secondMs;

/**
 * The hosts of all APIs, at most ten minutes old; empty until they are read. Never rejects, and waits at most
 * two seconds.
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
 * Records a host of an API in this region. If two are recorded at the same time, one may be lost until its
 * next call.
 *
 * @throws if it takes longer than a second
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
