/** The target of a schedule: a queue that receives one message for each fire, or its dead letter queue instead. */
import { AwsError } from '../aws/awsError.ts';
import type { Sqs } from '../sqs/sqs.ts';
import type { Invocation } from './schedules.ts';
import { scheduledTime } from './settings.ts';

export interface TargetOptions {
  readonly sqs: Pick<Sqs, 'send'>;
  /** Called for a message that reached neither queue. */
  readonly report: (error: unknown) => void;
}

/**
 * Sends the message; the caller waits for the store. A message that the queue refuses would be refused again: it goes to the dead letter queue at once,
 * without the error's attributes, because the stand-in for SQS has no message attributes.
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

/** Sends a message; returns the reason when the queue refuses it. */
function refusalOf(sqs: TargetOptions['sqs'], arn: string, body: string): string | undefined {
  try {
    // The error of the disk is the caller's.
    sqs.send(arn.slice(arn.lastIndexOf(':') + 1), body).catch(() => undefined);
    return undefined;
  } catch (error) {
    if (error instanceof AwsError) return error.message;
    throw error;
  }
}

/** Makes the input, with its context attribute replaced by the time that the schedule names, to the second. */
function bodyOf({ schedule, scheduledAt }: Invocation): string {
  const time = new Date(scheduledAt).toISOString().replace(/\.\d+Z$/, 'Z');
  return schedule.settings.Target.Input.replaceAll(scheduledTime, time);
}
