/** The queues that carry pointers to messages, and how the functions behind them are timed. */
import { Duration } from 'aws-cdk-lib';
import { Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { maxReceives } from '../lambdas/resources.ts';

/**
 * A function must end before its pointer is visible again (Lambda demands no less), and after the longest wait
 * for an answer that its queue is for: see `shortTimeoutMs` and `longTimeoutMs`.
 */
export const timing = {
  short: { timeout: Duration.seconds(60), visibility: Duration.seconds(70) },
  long: { timeout: Duration.seconds(900), visibility: Duration.seconds(910) },
  dead: { timeout: Duration.seconds(60), visibility: Duration.seconds(70) },
} as const;

export type QueueName = keyof typeof timing;

export class Queues extends Construct implements Record<QueueName, Queue> {
  readonly short: Queue;
  readonly long: Queue;
  /** Pointers whose worker never came back from them; their messages are failed into the dead letter table. */
  readonly dead: Queue;

  constructor(scope: Construct, id: string) {
    super(scope, id);
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
