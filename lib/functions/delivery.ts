import type { Stack } from 'aws-cdk-lib';
import type { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import {
  aloneConcurrency,
  functionMemoryMb,
  longestTimeoutSeconds,
  queues as shapes,
} from '../../lambdas/aws/resources.ts';
import type { SharedProps, SvcFunction } from './function.ts';
import type { Instances } from './instances.ts';
import type { Queues } from '../state/queues.ts';
import type { Rights } from './rights.ts';
import { makeWorker, rightsOfWorker } from './worker.ts';

interface DeliveryProps {
  readonly shared: SharedProps;
  readonly rights: Rights;
  readonly queues: Queues;
  readonly instances: Instances | undefined;
}

export class Delivery {
  /** Delivers messages with timeouts of at most 30 s. */
  readonly short: SvcFunction;
  readonly long: SvcFunction;
  /** Delivers messages to slow hosts, many at a time. */
  readonly slow: SvcFunction;
  /** Delivers jobs whose workers died, one at a time. */
  readonly alone: SvcFunction;

  constructor(stack: Stack, { shared, rights, queues, instances }: DeliveryProps) {
    const { deliveryConcurrency, deliveryMemory, longDelivery } = shared.settings;
    const [long, alone] = [instances?.placementOf('long'), instances?.placementOf('dead')];
    const may = [...rightsOfDelivery(rights), rights.send('slow')];
    this.short = makeWorker(stack, 'DeliverShort', {
      ...shared,
      queues,
      source: 'short',
      maxConcurrency: deliveryConcurrency,
      memoryMb: deliveryMemory,
      handler: 'deliver',
      description: 'Attempts deliveries that may take up to 30 s',
      may,
    });
    this.long = makeWorker(stack, 'DeliverLong', {
      ...shared,
      queues,
      source: 'long',
      maxConcurrency: deliveryConcurrency,
      memoryMb: long?.memoryMb ?? deliveryMemory,
      placement: long,
      handler: 'deliver',
      description: `Attempts deliveries that may take up to ${longestTimeoutSeconds[longDelivery] / 60} minutes`,
      may,
    });
    this.slow = makeWorker(stack, 'DeliverSlow', {
      ...shared,
      queues,
      source: 'slow',
      maxConcurrency: deliveryConcurrency,
      memoryMb: Math.floor(deliveryMemory * shapes.slow.memoryFactor),
      handler: 'deliver',
      description: 'Attempts deliveries to slow hosts, many at once',
      may,
    });
    this.alone = makeWorker(stack, 'DeliverAlone', {
      ...shared,
      queues,
      source: 'dead',
      maxConcurrency: aloneConcurrency,
      // The job may have died because of too little memory, so it gets at least the usual amount.
      memoryMb: alone?.memoryMb ?? Math.max(deliveryMemory, functionMemoryMb),
      placement: alone,
      handler: 'deliverAlone',
      description: 'Attempts messages whose worker died one at a time, and fails those that kill it again',
      may: rightsOfAlone(rights),
    });
  }
}

const rightsOfDelivery = (rights: Rights): readonly PolicyStatement[] => [
  ...rights.authenticate(),
  rights.knowHosts(),
  rights.on('messages', 'Query', 'GetItem', 'BatchGetItem', 'PutItem', 'UpdateItem', 'BatchWriteItem'),
  // Past deliveries are found in the log, and published again.
  rights.queryIndex('messages', 'log'),
  rights.on('dlq', 'GetItem', 'PutItem', 'UpdateItem', 'Query'),
  rights.on('usage', 'GetItem', 'PutItem'),
  rights.queryIndex('dlq', 'present'),
  // An endpoint that answers 410 may be removed from its URL group.
  rights.on('groups', 'GetItem', 'PutItem', 'DeleteItem'),
  rights.endPeriods(),
  rights.endRuns(),
  // The schedule for a wait's timeout is deleted when its event comes first.
  rights.endSchedules(),
  ...rights.ensureQueues(),
  // Rows of tenants, whose lifetimes are extended.
  rights.readTenants(),
  rights.on('lanes', 'UpdateItem'),
  rights.onBodies('GetObject', 'PutObject'),
  rights.seeMissingBodies(),
  ...rights.sendToDestinations(),
  rights.readTlsSecrets(),
];

export const rightsOfAllDelivery = (
  rights: Rights,
  of: { readonly queues: Queues; readonly forEmulator: boolean },
): readonly PolicyStatement[] => [
  ...rightsOfAlone(rights),
  rights.send('slow'),
  ...(['short', 'long', 'slow', 'dead'] as const).flatMap((source) => rightsOfWorker(of, source)),
];

const rightsOfAlone = (rights: Rights): readonly PolicyStatement[] => [
  ...rightsOfDelivery(rights),
  // After an outage a job is sent to its queue again. For other queues this permission is in the list above.
  rights.send('dead'),
];
