/** The queues that carry pointers to messages, and how the functions behind them are timed. */
import { Duration } from 'aws-cdk-lib';
import { Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { maxReceives, queues, type QueueName } from '../lambdas/resources.ts';

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
  undeliveredFires: timingOf('undeliveredFires'),
} satisfies Record<QueueName, unknown>;

export type { QueueName };

export class Queues extends Construct implements Record<QueueName, Queue> {
  readonly short: Queue;
  readonly long: Queue;
  readonly dead: Queue;

  /** What Scheduler sends for schedules. */
  readonly fire: Queue;
  /** Fires that could not be sent, or not be handled, for an operator to look at. */
  readonly undeliveredFires: Queue;

  constructor(scope: Construct, id: string) {
    super(scope, id);
    this.undeliveredFires = this.queue('UndeliveredFires', timing.undeliveredFires.visibility);
    this.fire = this.queue('Fire', timing.fire.visibility, {
      queue: this.undeliveredFires,
      maxReceiveCount: maxReceives,
    });
    this.dead = this.queue('Dead', timing.dead.visibility);
    const redrive = { queue: this.dead, maxReceiveCount: maxReceives };
    this.short = this.queue('Short', timing.short.visibility, redrive);
    this.long = this.queue('Long', timing.long.visibility, redrive);
  }

  private queue(
    id: string,
    visibilityTimeout: Duration,
    deadLetterQueue?: { queue: Queue; maxReceiveCount: number },
  ) {
    return new Queue(this, id, {
      visibilityTimeout,
      // The longest there is: a pointer that expires would be a message that waits for ever.
      retentionPeriod: Duration.days(14),
      encryption: QueueEncryption.SQS_MANAGED,
      enforceSSL: true,
      ...(deadLetterQueue === undefined ? {} : { deadLetterQueue }),
    });
  }
}
