/**
 * Attempts whose destinations answer slowly. They have separate invocations, because an invocation lasts as
 * long as its slowest attempt.
 */
import { longestTimeoutSeconds } from '../aws/resources.ts';
import { settings } from '../aws/settings.ts';
import { hostOf } from '../destination/place.ts';
import { now } from '../shared/clock.ts';
import { groupOf } from './group.ts';
import type { AttemptJob, Job } from './job.ts';
import { sendText } from './receipt.ts';
import { afterAttempt, isSlow, type Speed } from './speed.ts';

/** Above this number, the oldest destinations are forgotten. */
const mostKnown = 1_000;
const speeds = new Map<string, Speed>();

function note(name: string, ms: number): void {
  const speed = afterAttempt(speeds.get(name), ms, now());
  speeds.delete(name);
  speeds.set(name, speed);
  const [oldest] = speeds.keys();
  if (speeds.size > mostKnown && oldest !== undefined) speeds.delete(oldest);
}

/** The lane that granted the job, used if the host is unknown; undefined for the account's lane. */
const laneOf = ({ accountId, admittedTo }: AttemptJob): string | undefined =>
  admittedTo === undefined || admittedTo.lane === 'account'
    ? undefined
    : `${accountId}:${admittedTo.lane}:${admittedTo.name}`;

export function noteTime(job: AttemptJob, destination: string, ms: number): void {
  note(hostOf(destination), ms);
  const lane = laneOf(job);
  if (lane !== undefined) note(lane, ms);
}

/**
 * Whether slow jobs stay in the long queue, because functions of the queue `slow` have less time. The long
 * queue's workers are then paid by the hour, or are this machine, so waiting costs nothing.
 */
const keepsLongJobs = settings.longestTimeoutSeconds > longestTimeoutSeconds.functions;

/** The host or lane of a slow job that can be moved to the queue `slow`; otherwise undefined. */
export function slowNameOf(job: Job): string | undefined {
  if (job.kind !== 'attempt' || settings.slowQueueUrl === undefined) return undefined;
  if (job.queue === 'long' && keepsLongJobs) return undefined;
  const name = job.host ?? laneOf(job);
  return name !== undefined && isSlow(speeds.get(name), now()) ? name : undefined;
}

/** SQS is fair between destinations in the queue `slow`. */
export async function sendSlow(text: string, group: string | undefined, name: string): Promise<void> {
  if (settings.slowQueueUrl === undefined) throw new Error('There is no queue for slow jobs yet.');
  await sendText(settings.slowQueueUrl, { text, group: groupOf(group ?? '', name) });
}
