import type { Stack } from 'aws-cdk-lib';
import { followConcurrency } from '../../lambdas/aws/resources.ts';
import type { SharedProps, SvcFunction } from './function.ts';
import type { Queues } from '../state/queues.ts';
import type { Rights } from './rights.ts';
import { makeWorker } from './worker.ts';

interface AccountsProps {
  readonly shared: SharedProps;
  readonly rights: Rights;
  readonly queues: Queues;
}

export class Accounts {
  readonly follow: SvcFunction;

  constructor(stack: Stack, { shared, rights, queues }: AccountsProps) {
    this.follow = makeWorker(stack, 'FollowAccount', {
      ...shared,
      queues,
      source: 'accountChanges',
      maxConcurrency: followConcurrency,
      // Operators change accounts one by one.
      isBoundedBySource: true,
      handler: 'followAccount',
      description: 'Applies an account’s change to a region',
      may: [
        rights.on('accounts', 'GetItem'),
        rights.removeTokens(),
        // Starts attempts that waited for their account, or deletes the data of a deleted account.
        ...rights.changeLanes(),
        rights.on('lanes', 'DeleteItem'),
        // The bodies of schedules.
        rights.on('messages', 'DeleteItem'),
        rights.queryIndex('lanes', 'names'),
        rights.on('schedules', 'Query', 'DeleteItem'),
        rights.on('groups', 'Query', 'DeleteItem'),
        // Shorter bodies of schedules are rows, longer ones objects.
        rights.on('messages', 'DeleteItem'),
        rights.onBodies('DeleteObject'),
        rights.endSchedules(),
        rights.tellRegions(),
      ],
    });
  }
}
