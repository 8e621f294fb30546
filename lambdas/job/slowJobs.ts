/**
 * Slow jobs: attempts whose destinations take long to answer, as this process has seen it. They do not share invocations with quick
 * ones, because an invocation lasts as long as its slowest attempt.
 */
import { settings } from '../aws/settings.ts';
import { hostOf } from '../destination/place.ts';
import { recentlyUsed } from '../shared/recentlyUsed.ts';
import { secondMs } from '../shared/clock.ts';
import { groupOf } from './group.ts';
import type { AttemptJob, Job } from './job.ts';
import { sendText } from './receipt.ts';

/** The weight of the latest attempt in the average. A host that takes 30 s for one answer in twenty is slow most of the time. */
const weight = 1 / 8;
/** Answers that take longer than this on average are slow. */
const slowMs = secondMs;

interface Speed {
  averageMs: number;
}

const speeds = new Map<string, Speed>();
const always = (): boolean => true;

function note(name: string, ms: number): void {
  const speed = recentlyUsed(speeds, name, () => ({ averageMs: 0 }), always);
  speed.averageMs += (ms - speed.averageMs) * weight;
}

/** The lane that let a job go, which stands for the host where the job does not name it; undefined for an account's own lane. */
const laneOf = ({ accountId, admittedTo }: AttemptJob): string | undefined =>
  admittedTo === undefined || admittedTo.lane === 'account'
    ? undefined
    : `${accountId}:${admittedTo.lane}:${admittedTo.name}`;

/** Notes how many milliseconds an attempt took. */
export function noteTime(job: AttemptJob, destination: string, ms: number): void {
  note(hostOf(destination), ms);
  const lane = laneOf(job);
  if (lane !== undefined) note(lane, ms);
}

/** The host of a job that is known to be slow, or the lane where the job names no host; undefined for other jobs. */
export function slowNameOf(job: Job): string | undefined {
  if (job.kind !== 'attempt' || settings.slowQueueUrl === undefined) return undefined;
  const name = job.host ?? laneOf(job);
  return name !== undefined && (speeds.get(name)?.averageMs ?? 0) > slowMs ? name : undefined;
}

/** Sends a job to the queue `slow`. There, SQS is fair between destinations, and not only between accounts. */
export async function sendSlow(text: string, group: string | undefined, name: string): Promise<void> {
  if (settings.slowQueueUrl === undefined) throw new Error('There is no queue for slow jobs yet.');
  await sendText(settings.slowQueueUrl, { text, group: groupOf(group ?? '', name) });
}
