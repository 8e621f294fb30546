/** Checks that take minutes: long attempts, far delays, and the job of a killed worker. */
import { ChangeMessageVisibilityCommand, type Message, ReceiveMessageCommand } from '@aws-sdk/client-sqs';
import * as z from 'zod';
import { valuesIn } from '../../../lib/regional.ts';
import { type Check, expectThat, Skipped } from '../../check.ts';
import { until } from '../../wait.ts';
import { delivered, isQuiet, resourceOf, shortQueue } from '../acts.ts';
import { publish } from '../api.ts';
import type { After } from '../context.ts';
import { schedulesOf } from './timeChecks.ts';

/**
 * Checks a long attempt. A NAT gateway drops connections that are idle for 350 s, unless there are keep-alive probes ("NAT
 * gateway basics", Amazon VPC User Guide).
 */
const longAttempt = (seconds: number): Check<After> => ({
  name: 'long-attempt',
  shows: `an attempt whose answer takes ${seconds} s succeeds, and is made once`,
  remedy:
    'Look for the message in GET /v2/logs. Behind a NAT gateway, of the deployment or of your VPC, a connection that is silent for 350 s is dropped: do the delivery functions send keep-alive probes? Look at the visibility timeout of the queue Long, too.',
  isSlow: true,
  run: async (after) => {
    const { api, inbox, settings, region } = after;
    const slow = inbox(`wait-${seconds}`, 'slow');
    const messageId = await publish(api.client, slow.url, {
      body: 'long',
      headers: { 'svc-timeout': `${seconds + 60}s`, 'svc-retries': '0' },
    });
    await delivered(after, messageId, seconds);
    const received = await slow.received(1);
    expectThat(received.length === 1, `The receiver got ${received.length} requests of one attempt.`);
    const way =
      valuesIn(settings.fixedAddresses, region).length > 0
        ? 'through the NAT gateway of the deployment'
        : valuesIn(settings.vpcs, region).length > 0
          ? 'from your VPC'
          : settings.longDelivery === 'instances'
            ? 'from the VPC of the managed instances'
            : 'from the network of Lambda';
    return `an attempt of ${seconds} s succeeded, ${way}`;
  },
});

/** Longer than SQS's longest delay of 15 minutes, so the message waits in Scheduler. */
const farMinutes = 16;

/** Scheduler fires within a minute. A delay of SQS adds the rest. */
const latestMs = 120_000;

const queueShape = z.object({ VisibilityTimeout: z.number() });

/** How many receives at once, and how often, because workers receive jobs, too. */
const pollers = 20;
const rounds = 10;
const perRound = 5;

/** Receives jobs as a worker does, and returns those of other messages to the queue. */
async function takeJobs(
  { clients: { sqs } }: After,
  QueueUrl: string,
  isOwn: (job: Message) => boolean,
): Promise<readonly Message[]> {
  const taken = await Promise.all(
    Array.from({ length: pollers }, () =>
      sqs.send(new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 1, WaitTimeSeconds: 1 })),
    ),
  );
  const jobs = taken.flatMap(({ Messages = [] }) => Messages);
  for (const { ReceiptHandle } of jobs.filter((job) => !isOwn(job)))
    await sqs.send(new ChangeMessageVisibilityCommand({ QueueUrl, ReceiptHandle, VisibilityTimeout: 0 }));
  return jobs.filter(isOwn);
}

export const longChecks: readonly Check<After>[] = [
  longAttempt(400),
  {
    name: 'far-fire',
    shows: `a message that is due in ${farMinutes} minutes is delivered then, and leaves no schedule behind`,
    remedy:
      'Look at the schedule group and at its role, which only Scheduler may assume for this group; then at the queue of undelivered fires: docs/operate.md, "UndeliveredFires" and "SchedulerTarget".',
    isSlow: true,
    run: async (after) => {
      const { api, inbox, timeout } = after;
      const one = inbox('ok');
      const dueAt = Date.now() + farMinutes * 60_000;
      const messageId = await publish(api.client, one.url, {
        body: 'far',
        headers: { 'svc-delay': `${farMinutes}m` },
      });
      const [received] = await one.received(1, {
        everyMs: 5_000,
        waitMs: farMinutes * 60_000 + latestMs + timeout.waitMs,
      });
      const late = (received?.at ?? 0) - dueAt;
      expectThat(
        received?.messageId === messageId && late > -2_000 && late < latestMs,
        `A message that was due in ${farMinutes} minutes came ${Math.round(late / 1_000)} s late.`,
      );
      await until(
        async () => (await schedulesOf(after, messageId)).length === 0,
        () => 'Scheduler still has the schedule of a message that was delivered.',
        timeout,
      );
      return `a message that was due in ${farMinutes} minutes came ${(late / 1_000).toFixed(1)} s late, and its schedule is gone`;
    },
  },
];

/**
 * Receives a job and never deletes it, which looks like a killed worker. Lambda cannot kill one. Runs alone, because it takes
 * jobs from a queue.
 */
export const killedWorkerCheck: Check<After> = {
  name: 'killed-worker',
  shows: 'a job whose worker is killed is done by another',
  remedy:
    'Look at the visibility timeout and the redrive policy of the queue Short, and at the function DeliverAlone: svc-queue drift.',
  isSlow: true,
  run: async (after) => {
    const { api, inbox, templates, region } = after;
    const queueUrl = resourceOf(after, shortQueue, 'queue of short jobs');
    const shape = templates
      .filter((stack) => stack.region === region)
      .flatMap((stack) => Object.entries(stack.resources))
      .find(([logicalId]) => shortQueue.test(logicalId))?.[1];
    const { VisibilityTimeout } = queueShape.parse(shape?.Properties);
    if (!(await isQuiet(after, queueUrl)))
      throw new Skipped('the queue of short jobs is in use, and this check would hold up the jobs of others');
    const one = inbox('ok');
    const messageIds: string[] = [];
    let held: readonly Message[] = [];
    for (let round = 0; round < rounds && held.length === 0; round += 1) {
      const taking = takeJobs(after, queueUrl, ({ Body = '' }) => messageIds.some((id) => Body.includes(id)));
      for (let number = 0; number < perRound; number += 1) {
        messageIds.push(
          await publish(api.client, one.url, { body: 'held', headers: { 'svc-timeout': '20s' } }),
        );
      }
      held = await taking;
    }
    const takenAt = Date.now();
    if (held.length === 0) throw new Skipped('the workers took each job before this check could');
    const heldIds = messageIds.filter((id) => held.some(({ Body = '' }) => Body.includes(id)));
    const back = await until(
      async () => {
        const received = await one.received(0);
        const came = received.filter(({ messageId }) => heldIds.includes(messageId));
        return new Set(came.map(({ messageId }) => messageId)).size === heldIds.length ? came : undefined;
      },
      () =>
        `A job whose worker does not end it did not come back; its queue has to show it again after ${VisibilityTimeout} s.`,
      { ...after.timeout, everyMs: 5_000, waitMs: VisibilityTimeout * 1_000 + after.timeout.waitMs },
    );
    const seconds = Math.round((Math.min(...back.map(({ at }) => at)) - takenAt) / 1_000);
    return `${heldIds.length} jobs were taken off the queue and not ended, as by a worker that is killed; they were delivered ${seconds} s later (visibility timeout ${VisibilityTimeout} s)`;
  },
};
