/** A schedule's target: a queue that gets a message for each fire, or its dead letter queue. */
import { AwsError } from '../aws/awsError.ts';
import type { Sqs } from '../sqs/sqs.ts';
import type { Invocation } from './schedules.ts';
import { scheduledTime } from './settings.ts';

export interface TargetOptions {
  readonly sqs: Pick<Sqs, 'send'>;
  readonly report: (error: unknown) => void;
}

/**
 * Sends the message. If the queue refuses it, it goes straight to the dead letter queue, without the error's attributes,
 * because the SQS stand-in has no message attributes.
 */
export function invokeTarget({ sqs, report }: TargetOptions, invocation: Invocation): void {
  const { name, settings } = invocation.schedule;
  const { Arn, DeadLetterConfig } = settings.Target;
  const body = bodyOf(invocation);
  const refusal = refusalOf(sqs, Arn, body);
  if (refusal === undefined) return;
  const undelivered = `Schedule ${name} could not fire to ${Arn}: ${refusal}`;
  if (DeadLetterConfig?.Arn === undefined) {
    report(new Error(undelivered));
    return;
  }
  const secondRefusal = refusalOf(sqs, DeadLetterConfig.Arn, body);
  if (secondRefusal === undefined) return;
  report(new Error(`${undelivered} Nor could its dead letter queue be reached: ${secondRefusal}`));
}

/** Sends a message, and returns the queue's error, if any. */
function refusalOf(sqs: TargetOptions['sqs'], arn: string, body: string): string | undefined {
  try {
    // The caller handles disk errors.
    sqs.send(arn.slice(arn.lastIndexOf(':') + 1), body).catch(() => undefined);
    return undefined;
  } catch (error) {
    if (error instanceof AwsError) return error.message;
    throw error;
  }
}

/** Replaces the context attribute in the input by the schedule's time, to the second. */
function bodyOf({ schedule, scheduledAt }: Invocation): string {
  const time = new Date(scheduledAt).toISOString().replace(/\.\d+Z$/, 'Z');
  return schedule.settings.Target.Input.replaceAll(scheduledTime, time);
}
