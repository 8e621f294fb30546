import { DescribeAddressesCommand } from '@aws-sdk/client-ec2';
import { valuesIn } from '../../../lib/regional.ts';
import { type Check, expectThat, Skipped } from '../../check.ts';
import { publish } from '../api.ts';
import type { After } from '../context.ts';

/** Messages per address. Each execution uses its zone's gateway. */
const perAddress = 5;

export const senderCheck: Check<After> = {
  name: 'sender-address',
  shows: 'deliveries come from the fixed addresses',
  remedy:
    'Look at the NAT gateways and the routes of the subnets of the delivery functions: svc-queue drift shows what was changed.',
  run: async ({ settings, region, api, inbox, clients }) => {
    const ids = valuesIn(settings.fixedAddresses, region);
    if (ids.length === 0) throw new Skipped('the setting fixedAddresses has none here');
    const { Addresses = [] } = await clients.ec2.send(
      new DescribeAddressesCommand({ AllocationIds: [...ids] }),
    );
    const fixed = Addresses.flatMap(({ PublicIp }) => PublicIp ?? []);
    const one = inbox('ok');
    const count = perAddress * ids.length;
    for (let number = 0; number < count; number += 1)
      await publish(api.client, one.url, { body: 'from where' });
    const from = [...new Set((await one.received(count)).map((received) => received.from))];
    const foreign = from.filter((address) => !fixed.includes(address));
    expectThat(
      foreign.length === 0,
      `Deliveries came from ${foreign.join(', ')}, and the fixed addresses are ${fixed.join(', ')}.`,
    );
    return `${count} deliveries came from ${from.join(', ')}, of ${fixed.join(', ')}`;
  },
};
