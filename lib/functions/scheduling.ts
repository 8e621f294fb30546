/** The worker that publishes a schedule's message each time the schedule fires. */
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

/** The resources are in the stack itself, not below a construct, so that their logical ids are short and do not change. */
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
      // Scheduler sends at most 1,000 fires a second unless AWS raised that ("Quotas for Amazon EventBridge Scheduler"), and one
      // takes a tenth of a second: a hundred executions. After an outage Lambda adds at most 300 executions a minute.
      isBoundedBySource: true,
      handler: 'fire',
      description: 'Publishes what a schedule says when it fires',
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
        // A fire that meets an outage is sent again; one that was given up goes to a queue for operators.
        rights.send('fire', 'undeliveredFires'),
        rights.endSchedules(),
      ],
    });
  }
}
