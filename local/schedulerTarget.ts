/** What a schedule does when it fires: one message to its queue, or to its dead letter queue. */
import { randomBytes, randomUUID } from 'node:crypto';
import type { ScheduleId } from './schedulerJournal.ts';
import type { Invocation } from './schedules.ts';
import { SqsError, accountId, type Sqs } from './sqs.ts';

export interface TargetOptions {
  readonly sqs: Pick<Sqs, 'send'>;
  readonly region: string;
  /** Told of what reached neither queue. */
  readonly report: (error: unknown) => void;
}

/**
 * Sends the message, and only then returns. What the queue refuses it would refuse again: that goes to the dead letter
 * queue at once, its body only, as the stand-in for SQS has no message attributes.
 */
export function invokeTarget({ sqs, region, report }: TargetOptions, invocation: Invocation): void {
  const { Target } = invocation.schedule.settings;
  const body = bodyOf(invocation, region);
  try {
    sqs.send(queueNameIn(Target.Arn), body, Target.SqsParameters?.MessageGroupId);
  } catch (error) {
    if (!(error instanceof SqsError)) throw error;
    sendToDeadLetterQueue(error);
  }

  function sendToDeadLetterQueue(refusal: SqsError): void {
    const arn = Target.DeadLetterConfig?.Arn;
    const { name } = invocation.schedule;
    const undelivered = `Schedule ${name} could not fire to ${Target.Arn}: ${refusal.message}`;
    try {
      if (arn === undefined) report(new Error(undelivered));
      else sqs.send(queueNameIn(arn), body, undefined);
    } catch (error) {
      if (!(error instanceof SqsError)) throw error;
      report(new Error(`${undelivered} Nor could its dead letter queue be reached: ${error.message}`));
    }
  }
}

export function scheduleArn(region: string, { group, name }: ScheduleId): string {
  return `arn:aws:scheduler:${region}:${accountId}:schedule/${group}/${name}`;
}

export function scheduleGroupArn(region: string, name: string): string {
  return `arn:aws:scheduler:${region}:${accountId}:schedule-group/${name}`;
}

function queueNameIn(arn: string): string {
  return arn.slice(arn.lastIndexOf(':') + 1);
}

/** The input with its context attributes replaced, or Scheduler's own notification when there is none. */
function bodyOf({ schedule, scheduledAt, attempt }: Invocation, region: string): string {
  const arn = scheduleArn(region, schedule);
  const time = new Date(scheduledAt).toISOString().replace(/\.\d+Z$/, 'Z');
  const { Input } = schedule.settings.Target;
  if (Input === undefined) return notification(region, arn, time);
  const attributes = new Map([
    ['schedule-arn', arn],
    ['scheduled-time', time],
    ['execution-id', randomBytes(8).toString('hex')],
    ['attempt-number', String(attempt)],
  ]);
  return Input.replace(
    /<aws\.scheduler\.([a-z-]+)>/g,
    (keyword, name: string) => attributes.get(name) ?? keyword,
  );
}

function notification(region: string, arn: string, time: string): string {
  return JSON.stringify({
    version: '0',
    id: randomUUID(),
    'detail-type': 'Scheduled Event',
    source: 'aws.scheduler',
    account: accountId,
    time,
    region,
    resources: [arn],
    detail: '{}',
  });
}
