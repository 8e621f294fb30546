import type { Stack } from 'aws-cdk-lib';
import { fireConcurrency } from '../../lambdas/aws/resources.ts';
import type { SharedProps, SvcFunction } from './function.ts';
import type { Queues } from '../state/queues.ts';
import type { Rights } from './rights.ts';
import type { ScheduleGroup } from '../state/scheduleGroup.ts';
import { makeWorker } from './worker.ts';

interface SchedulingProps {
  readonly shared: SharedProps;
  readonly rights: Rights;
  readonly queues: Queues;
  readonly group: ScheduleGroup;
}

export class Scheduling {
  readonly group: ScheduleGroup;
  readonly fire: SvcFunction;

  constructor(stack: Stack, { shared, rights, queues, group }: SchedulingProps) {
    this.group = group;
    this.fire = makeWorker(stack, 'Fire', {
      ...shared,
      queues,
      source: 'fire',
      maxConcurrency: fireConcurrency,
      // Scheduler sends at most 1,000 fires a second by default ("Quotas for Amazon EventBridge Scheduler"), and a fire takes
      // 0.1 s: a hundred executions. After an outage Lambda adds at most 300 a minute.
      isBoundedBySource: true,
      handler: 'fire',
      description: 'Publishes the messages of schedules that fire',
      may: [
        rights.on('accounts', 'GetItem'),
        rights.knowHosts(),
        rights.countUsage(),
        rights.on('schedules', 'GetItem', 'PutItem', 'UpdateItem'),
        rights.on('groups', 'GetItem'),
        ...rights.ensureQueues(),
        rights.changeRuns(),
        rights.on('messages', 'Query', 'GetItem', 'BatchGetItem', 'BatchWriteItem', 'DeleteItem'),
        rights.onBodies('GetObject', 'PutObject', 'DeleteObject'),
        rights.seeMissingBodies(),
        // After an outage a fire is sent again. A fire that is given up goes to a queue for operators.
        rights.send('fire', 'undeliveredFires'),
        rights.endSchedules(),
      ],
    });
  }
}
