/**
 * Checks functions on managed instances: an answer that takes longer than a Lambda function may run, and instances that are
 * lost.
 */
import {
  GetAliasCommand,
  GetFunctionScalingConfigCommand,
  PutFunctionScalingConfigCommand,
} from '@aws-sdk/client-lambda';
import * as z from 'zod';
import { liveAlias } from '../../../lib/functions/function.ts';
import { type Check, Skipped } from '../../check.ts';
import { until } from '../../wait.ts';
import { delivered, isQuiet, resourceOf } from '../acts.ts';
import { publish, statesOf } from '../api.ts';
import type { After } from '../context.ts';
import { makeLateHost, removeLateHost } from '../receiver/lateHost.ts';

const noInstances =
  'longDelivery is functions: no answer may take longer than 14 minutes, and there are no instances';

/** A machine that answers `/<seconds>` after this many seconds. */
interface LateHost {
  readonly make: (after: After) => Promise<string>;
  readonly remove: (after: After) => Promise<unknown>;
}

const machine: LateHost = {
  make: ({ clients, settings, timeout }) =>
    makeLateHost(clients.cloudFormation, settings.name, timeout.signal),
  remove: ({ clients, settings }) => removeLateHost(clients.cloudFormation, settings.name),
};

/** The machine's server starts about a minute after CloudFormation has finished. */
const startMs = 300_000;

async function started({ api, timeout }: After, url: string): Promise<void> {
  const headers = { 'svc-timeout': '10s', 'svc-retries': '0' };
  const send = () => publish(api.client, `${url}/0`, { body: 'ready?', headers });
  let messageId = await send();
  await until(
    async () => {
      const states = await statesOf(api.client, messageId);
      if (states.includes('DELIVERED')) return true;
      if (states.some((one) => /^(FAILED|ERROR)$/.test(one))) messageId = await send();
      return undefined;
    },
    () => `No delivery reached the machine at ${url}.`,
    { ...timeout, everyMs: 5_000, waitMs: timeout.waitMs + startMs },
  );
}

export const longAnswer = (seconds: number, host = machine): Check<After> => ({
  name: 'long-answer',
  shows: `an answer that takes ${seconds / 60} minutes is waited for`,
  remedy:
    'Look for the message in GET /v2/logs, and at the function and the event source mapping of the queue Long: does the alias point to a version with a timeout of 5,400 s? Does deliveryPorts have 80, which the machine of the check listens on?',
  isSlow: true,
  notOnEmulator: 'the emulator has no managed instances',
  run: async (after) => {
    const { api, settings } = after;
    if (settings.longDelivery !== 'instances') throw new Skipped(noInstances);
    try {
      const url = await host.make(after);
      await started(after, url);
      const from = Date.now();
      const messageId = await publish(api.client, `${url}/${seconds}`, {
        body: 'late',
        headers: { 'svc-timeout': `${seconds + 300}s`, 'svc-retries': '0' },
      });
      await delivered(after, messageId, seconds);
      return `an answer came after ${Math.round((Date.now() - from) / 1_000)} s, and the message is delivered`;
    } finally {
      await host.remove(after);
    }
  },
});

export const longFunction = /^DeliverLongOn[0-9a-f]{8}[0-9A-F]{8}$/;
const longQueue = /^QueuesLong[0-9A-F]{8}$/;

/** The number of messages that wait while instances are lost, and how long each waits, in seconds. */
const messages = 12;
const waitSeconds = 240;

/**
 * Lambda removes environments within minutes ("Scaling Lambda Managed Instances"), and their jobs become
 * visible after five.
 */
const comesBackMs = 1_200_000;

const everyMs = 10_000;

type Scaling = z.output<typeof scalingShape>;
const scalingShape = z.object({ MinExecutionEnvironments: z.number(), MaxExecutionEnvironments: z.number() });

export const lostInstanceCheck: Check<After> = {
  name: 'lost-instance',
  shows: 'messages that instances were waiting for are delivered when these instances go',
  remedy:
    'Look for the messages in GET /v2/logs, and at the visibility timeout of the queue Long. Then see that the function has its execution environments again: svc-queue deploy, or aws lambda put-function-scaling-config.',
  isSlow: true,
  notOnEmulator: 'the emulator has no managed instances',
  run: async (after) => {
    const { api, clients, inbox, settings, timeout } = after;
    if (settings.longDelivery !== 'instances') throw new Skipped(noInstances);
    const FunctionName = resourceOf(after, longFunction, 'function of long jobs on instances');
    const { FunctionVersion } = await clients.lambda.send(
      new GetAliasCommand({ FunctionName, Name: liveAlias }),
    );
    const version = { FunctionName, Qualifier: FunctionVersion };
    const applied = async (): Promise<Scaling> => {
      const { AppliedFunctionScalingConfig } = await clients.lambda.send(
        new GetFunctionScalingConfigCommand(version),
      );
      return scalingShape.parse(AppliedFunctionScalingConfig);
    };
    const scale = (FunctionScalingConfig: Scaling): Promise<unknown> =>
      clients.lambda.send(new PutFunctionScalingConfigCommand({ ...version, FunctionScalingConfig }));
    const before = await applied();
    // If the run is killed here, one environment remains, which continues the work.
    const one: Scaling = { MinExecutionEnvironments: 1, MaxExecutionEnvironments: 1 };
    if (before.MinExecutionEnvironments < 2)
      throw new Skipped('there is one execution environment, and without it nothing would be delivered');
    if (!(await isQuiet(after, resourceOf(after, longQueue, 'queue of long jobs'))))
      throw new Skipped('the queue of long jobs is in use, and this check would hold up the jobs of others');

    const slow = inbox(`wait-${waitSeconds}`, 'slow');
    const ids: string[] = [];
    for (let number = 0; number < messages; number += 1) {
      const headers = { 'svc-timeout': `${waitSeconds + 60}s`, 'svc-retries': '0' };
      ids.push(await publish(api.client, slow.url, { body: 'waits', headers }));
    }
    const delivering = { api, timeout: { ...timeout, waitMs: timeout.waitMs + comesBackMs } };
    try {
      await scale(one);
      await until(
        async () => (await applied()).MaxExecutionEnvironments === 1,
        () => 'Lambda has not taken execution environments away.',
        { ...timeout, everyMs, waitMs: timeout.waitMs + comesBackMs },
      );
      for (const id of ids) await delivered(delivering, id, waitSeconds);
    } finally {
      await scale(before);
    }
    const received = await slow.received(messages);
    const repeated = received.length - messages;
    return `all but one of ${before.MinExecutionEnvironments} execution environments went while ${messages} messages waited; all were delivered, ${repeated} attempts were made again`;
  },
};
