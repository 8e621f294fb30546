/** The queues that carry jobs. `lambdas/aws/resources.ts` describes each. */
import { Duration } from 'aws-cdk-lib';
import { type DeadLetterQueue, Queue, QueueEncryption, type QueueProps } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import {
  maxReceives,
  retentionSeconds,
  batchingWindows,
  visibilitySecondsOf,
  type QueueName,
} from '../../lambdas/aws/resources.ts';
import { accept } from '../acknowledge.ts';
import { namesOf } from '../names.ts';
import type { Settings } from '../settings.ts';

export type { QueueName };

/** The cdk-nag rules that require a dead letter queue for each queue. */
const noRedrive = ['AwsSolutions-SQS3', 'Serverless-SQSRedrivePolicy'] as const;

export class Queues extends Construct implements Record<QueueName, Queue> {
  readonly short: Queue;
  readonly long: Queue;
  readonly slow: Queue;
  readonly dead: Queue;
  readonly fire: Queue;
  readonly accountChanges: Queue;
  readonly undeliveredFires: Queue;
  readonly parked: Queue;
  /** Seconds for which Lambda gathers messages before it invokes the function. */
  readonly windows: Readonly<Record<QueueName, number>>;

  constructor(scope: Construct, id: string, settings: Settings) {
    super(scope, id);
    this.windows = { ...batchingWindows, short: settings.batchingWindow };
    this.undeliveredFires = this.queue('UndeliveredFires', 'undeliveredFires');
    accept(
      this.undeliveredFires,
      noRedrive,
      'It is the dead letter queue of the schedules in EventBridge Scheduler, which the rule does not know.',
    );
    this.parked = this.queue('Parked', 'parked');
    accept(
      this.parked,
      noRedrive,
      'It is the last stop itself: what is in it is sent back by a later release or an operator.',
    );
    this.fire = this.queue('Fire', 'fire');
    accept(
      this.fire,
      noRedrive,
      'Receives also count when AWS is away or has no room for the function, so a dead letter queue would take what only has ' +
        'to wait. The function counts the deaths of its workers itself, and gives a fire up into UndeliveredFires.',
    );
    this.accountChanges = this.queue('AccountChanges', 'accountChanges', {
      queueName: namesOf(settings).accountChangesQueue,
    });
    accept(
      this.accountChanges,
      noRedrive,
      'A change of an account is followed again and again until it is done: it may not be given up.',
    );
    this.dead = this.queue('Dead', 'dead');
    accept(
      this.dead,
      'Serverless-SQSRedrivePolicy',
      'It is a dead letter queue itself. Its function gives up what kills its workers, into the dead letters of the account.',
    );
    this.short = this.queue('Short', 'short', { deadLetterQueue: redrive(this.dead) });
    this.long = this.queue('Long', 'long', { deadLetterQueue: redrive(this.dead) });
    this.slow = this.queue('Slow', 'slow', { deadLetterQueue: redrive(this.dead) });
  }

  private queue(id: string, name: QueueName, more: QueueProps = {}): Queue {
    return new Queue(this, id, {
      visibilityTimeout: Duration.seconds(visibilitySecondsOf(name, this.windows[name])),
      // The longest time that SQS offers. If an attempt's SQS message expired, the attempt would never be made.
      retentionPeriod: Duration.seconds(retentionSeconds),
      encryption: QueueEncryption.SQS_MANAGED,
      enforceSSL: true,
      ...more,
    });
  }
}

const redrive = (queue: Queue): DeadLetterQueue => ({ queue, maxReceiveCount: maxReceives });
