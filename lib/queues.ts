/** The queues that carry pointers to messages, and how the functions behind them are timed. */
import { Duration } from 'aws-cdk-lib';
import { type DeadLetterQueue, Queue, QueueEncryption, type QueueProps } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { maxReceives, queues, type QueueName } from '../lambdas/resources.ts';
import { namesOf } from './names.ts';
import type { Settings } from './settings.ts';

const timingOf = (name: QueueName) => ({
  timeout: Duration.seconds(queues[name].functionTimeout),
  visibility: Duration.seconds(queues[name].visibility),
});

/** The resource table's seconds, as the CDK takes them. */
export const timing = {
  short: timingOf('short'),
  long: timingOf('long'),
  dead: timingOf('dead'),
  fire: timingOf('fire'),
  accountChanges: timingOf('accountChanges'),
  undeliveredFires: timingOf('undeliveredFires'),
} satisfies Record<QueueName, unknown>;

export type { QueueName };

export class Queues extends Construct implements Record<QueueName, Queue> {
  readonly short: Queue;
  readonly long: Queue;
  readonly dead: Queue;

  /** What Scheduler sends for schedules. */
  readonly fire: Queue;
  /** Which accounts were changed. */
  readonly accountChanges: Queue;
  /** Fires that could not be sent, or not be handled, for an operator to look at. */
  readonly undeliveredFires: Queue;

  constructor(scope: Construct, id: string, settings: Settings) {
    super(scope, id);
    this.undeliveredFires = this.queue('UndeliveredFires', 'undeliveredFires');
    this.fire = this.queue('Fire', 'fire', { deadLetterQueue: redrive(this.undeliveredFires) });
    this.accountChanges = this.queue('AccountChanges', 'accountChanges', {
      queueName: namesOf(settings).accountChangesQueue,
    });
    this.dead = this.queue('Dead', 'dead');
    this.short = this.queue('Short', 'short', { deadLetterQueue: redrive(this.dead) });
    this.long = this.queue('Long', 'long', { deadLetterQueue: redrive(this.dead) });
  }

  private queue(id: string, name: QueueName, more: QueueProps = {}): Queue {
    return new Queue(this, id, {
      visibilityTimeout: timing[name].visibility,
      // The longest there is: a pointer that expires would be a message that waits for ever.
      retentionPeriod: Duration.days(14),
      encryption: QueueEncryption.SQS_MANAGED,
      enforceSSL: true,
      ...more,
    });
  }
}

const redrive = (queue: Queue): DeadLetterQueue => ({ queue, maxReceiveCount: maxReceives });
