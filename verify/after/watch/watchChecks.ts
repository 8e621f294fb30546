/** Checks a deployment's monitoring: metrics, and the comparison with its templates. */
import {
  DescribeStackDriftDetectionStatusCommand,
  DetectStackDriftCommand,
  paginateDescribeStackResourceDrifts,
} from '@aws-sdk/client-cloudformation';
import { GetMetricDataCommand } from '@aws-sdk/client-cloudwatch';
import { DeleteMessageCommand, ReceiveMessageCommand, SendMessageCommand } from '@aws-sdk/client-sqs';
import { allOf } from '../../../operate/awsCalls.ts';
import { type Check, expectNone } from '../../check.ts';
import { ownQuery } from '../../metrics.ts';
import { resourceOf, shortQueue } from '../acts.ts';
import type { After } from '../context.ts';
import { until } from '../../wait.ts';

/** The logical id of the queue of parked messages. */
const parkedQueue = /^QueuesParked[0-9A-F]{8}$/;
const noJob = 'svc-queue verify';

/** CloudWatch extracts metrics from logs within a few minutes. */
const metricMs = 240_000;

/** Removes the message from the queue of parked messages, and leaves the others. */
async function takeBack({ clients: { sqs }, timeout }: After, QueueUrl: string): Promise<void> {
  await until(
    async () => {
      const { Messages = [] } = await sqs.send(
        new ReceiveMessageCommand({
          QueueUrl,
          MaxNumberOfMessages: 10,
          VisibilityTimeout: 5,
          WaitTimeSeconds: 5,
        }),
      );
      const own = Messages.find(({ Body = '' }) => Body.includes(noJob));
      if (own === undefined) return undefined;
      await sqs.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle: own.ReceiptHandle }));
      return true;
    },
    () => 'A message that is no job was not parked.',
    timeout,
  );
}

/** CloudFormation compares a stack's resources for minutes. */
const driftMs = 600_000;

async function driftOf({ clients: { cloudFormation: client }, timeout }: After, StackName: string) {
  const { StackDriftDetectionId } = await client.send(new DetectStackDriftCommand({ StackName }));
  const { DetectionStatusReason } = await until(
    async () => {
      const status = await client.send(
        new DescribeStackDriftDetectionStatusCommand({ StackDriftDetectionId }),
      );
      return status.DetectionStatus === 'DETECTION_IN_PROGRESS' ? undefined : status;
    },
    () => `CloudFormation did not finish comparing ${StackName}.`,
    { ...timeout, everyMs: 5_000, waitMs: timeout.waitMs + driftMs },
  );
  const filter = { StackName, StackResourceDriftStatusFilters: ['MODIFIED' as const, 'DELETED' as const] };
  const pages = paginateDescribeStackResourceDrifts({ client }, filter);
  const drifts = await allOf(pages, ({ StackResourceDrifts }) => StackResourceDrifts);
  const drifted = drifts.map(({ LogicalResourceId, StackResourceDriftStatus, PropertyDifferences = [] }) =>
    [
      LogicalResourceId,
      StackResourceDriftStatus,
      ...PropertyDifferences.map(({ PropertyPath }) => PropertyPath),
    ].join(' '),
  );
  return { drifted, reason: DetectionStatusReason };
}

export const watchChecks: readonly Check<After>[] = [
  {
    name: 'unreadable',
    shows:
      'CloudWatch reads the metrics out of the logs: a message that is no job is counted and parked, and an alarm goes on',
    remedy:
      'Look at the log of the function DeliverShort: has it a line with _aws and WorkUnreadable? Does the alarm’s topic have a confirmed address?',
    notOnEmulator: 'the emulator makes no metrics of log lines',
    run: async (after) => {
      const { clients, timeout, settings } = after;
      const QueueUrl = resourceOf(after, shortQueue, 'queue of short jobs');
      const parked = resourceOf(after, parkedQueue, 'queue of parked jobs');
      const sentAt = Date.now();
      await clients.sqs.send(
        new SendMessageCommand({ QueueUrl, MessageBody: noJob, MessageGroupId: 'verify' }),
      );
      const query = ownQuery(settings.name, 'WorkUnreadable', 60);
      await until(
        async () => {
          const { MetricDataResults = [] } = await clients.cloudWatch.send(
            new GetMetricDataCommand({
              MetricDataQueries: [query],
              StartTime: new Date(sentAt - 60_000),
              EndTime: new Date(),
            }),
          );
          return MetricDataResults.some(({ Values = [] }) => Values.some((value) => value > 0));
        },
        () => `CloudWatch has no metric WorkUnreadable in ${settings.name}.`,
        { ...timeout, everyMs: 15_000, waitMs: timeout.waitMs + metricMs },
      );
      await takeBack(after, parked);
      return settings.monitoring
        ? 'a message that is no job was counted and parked; the alarm GivenUp sends a mail within five minutes'
        : 'a message that is no job was counted and parked';
    },
  },
  {
    name: 'drift',
    shows: 'no one has changed what was deployed',
    remedy:
      'svc-queue drift shows it in full; svc-queue deploy -- --revert-drift brings the deployment back to its templates.',
    run: async (after) => {
      const all = await Promise.all(
        after.stacks.map(async (stack) => ({ stack, ...(await driftOf(after, stack)) })),
      );
      const changed = all.filter(({ drifted }) => drifted.length > 0);
      expectNone(
        changed.map(({ stack, drifted }) => `${stack}: ${drifted.join(', ')}`),
        (list) => `Changed since the deployment: ${list}.`,
      );
      const unsure = all.flatMap(({ stack, reason }) =>
        reason === undefined || reason === '' ? [] : [`${stack}: ${reason}`],
      );
      return unsure.length === 0
        ? `${all.length} stacks are as they were deployed`
        : `nothing is changed of what CloudFormation compared; ${unsure.join('; ')}`;
    },
  },
];
