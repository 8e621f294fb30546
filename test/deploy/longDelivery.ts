/**
 * `npm run test:deploy -- instances`: deploys one region, changes its setting `longDelivery` to `instances` and back, and keeps
 * publishing. The emulator has no capacity providers, so plain functions get the timeouts of those on instances.
 */
import {
  GetFunctionConfigurationCommand,
  LambdaClient,
  ListEventSourceMappingsCommand,
} from '@aws-sdk/client-lambda';
import * as z from 'zod';
import { clientOptions } from '../../lambdas/aws/clientOptions.ts';
import { functionSecondsOf, longestTimeoutSeconds, type LongDelivery } from '../../lambdas/aws/resources.ts';
import { liveAlias } from '../../lib/functions/function.ts';
import { rootUser } from './emulator.ts';
import { region, withOneRegion, type Call } from './oneRegion.ts';

const published = z.object({ messageId: z.string() });

/** The queues with functions for long answers, by function name. */
const longFunctions = { DeliverLong: 'long', DeliverAlone: 'dead' } as const;

/** Messages for each deployment. Some are due while it is made. */
const messages = 20;

export async function changeLongDelivery(): Promise<void> {
  // The SDK would warn about this Node version.
  process.env['AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED'] = 'true';
  await withOneRegion(
    () => ({ name: 'the region with functions' }),
    async ({ awsUrl, receiver, call, deploy, say }) => {
      const inbox = receiver.inbox();
      const ids: string[] = [];
      const publishSome = async (): Promise<void> => {
        for (let number = 0; number < messages; number += 1)
          ids.push(await publishLong(call, inbox.url, number));
      };
      await expectFunctions(awsUrl, 'functions');
      for (const longDelivery of ['instances', 'functions'] as const) {
        await publishSome();
        await deploy(`longDelivery=${longDelivery}`, undefined, { longDelivery });
        await expectFunctions(awsUrl, longDelivery);
        await publishSome();
        await inbox.until((all) => {
          const arrived = new Set(all.map(({ headers }) => headers['svc-message-id']));
          return ids.every((id) => arrived.has(id));
        });
        say(`all ${ids.length.toString()} messages arrived`);
      }
    },
  );
}

/** Publishes a message with a timeout that requires the long queue. */
async function publishLong(call: Call, url: string, number: number): Promise<string> {
  const headers = { 'svc-timeout': '60s', 'svc-delay': `${(3 * number).toString()}s` };
  return published.parse(await call('POST', `/v2/publish/${url}`, headers, 'long')).messageId;
}

/** @throws Error if a function has another timeout, no alias, or no mapping of its queue */
async function expectFunctions(endpoint: string, longDelivery: LongDelivery): Promise<void> {
  const client = new LambdaClient({
    ...clientOptions('quick'),
    endpoint,
    region,
    credentials: rootUser,
  });
  const { EventSourceMappings = [] } = await client.send(new ListEventSourceMappingsCommand({}));
  for (const [name, queue] of Object.entries(longFunctions)) {
    const own = EventSourceMappings.filter(
      ({ FunctionArn = '', State }) =>
        FunctionArn.includes(`-${name}`) && FunctionArn.endsWith(`:${liveAlias}`) && State === 'Enabled',
    );
    const [FunctionName] = own.map(({ FunctionArn }) => FunctionArn);
    if (own.length !== 1) throw new Error(`The alias of ${name} has ${own.length.toString()} mappings.`);
    const { Timeout } = await client.send(new GetFunctionConfigurationCommand({ FunctionName }));
    const expected = functionSecondsOf(queue, longestTimeoutSeconds[longDelivery]);
    if (Timeout !== expected)
      throw new Error(`${name} has a timeout of ${String(Timeout)} s, and not ${expected.toString()} s.`);
  }
}
