/** The stand-in for Amazon EventBridge Scheduler: the operations that the service and its tests use, over REST and JSON. */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import * as z from 'zod/mini';
import { scheduleArn } from '../aws/arns.ts';
import { AwsError } from '../aws/awsError.ts';
import type { HandedOver } from '../aws/handOver.ts';
import { checkedOperations, handedOverBy, startAwsServer, type Operation } from '../aws/server.ts';
import { answerJson, readBody } from '../http.ts';
import { jsonOrUndefined } from '../json.ts';
import type { Sqs } from '../sqs/sqs.ts';
import type { Store, Write } from '../store/store.ts';
import { Firing } from './firing.ts';
import { Schedules, type Invocation } from './schedules.ts';
import { createInput, resourceName, scheduledTime } from './settings.ts';
import type { Fire, StoredSchedule } from './storedSchedules.ts';

export interface Scheduler {
  readonly url: string;
  /** Answers calls of this process that create a schedule for a long delay. */
  readonly handedOver: Pick<HandedOver, 'handOver' | 'only'>;
  /** Begins to fire schedules in this process. Only one process may do so at a time. */
  readonly fire: () => Promise<void>;
  /** Stops firing schedules in this process. */
  readonly rest: () => Promise<void>;
  readonly planned: (fire: Fire) => void;
  /** Reads all fires again, because another process has ended. */
  readonly readAgain: () => Promise<void>;
  readonly nextDue: () => number | undefined;
  /** Must be called when the clock has jumped. */
  readonly wake: () => void;
  /** The texts that recurring schedules will send. */
  readonly inputs: () => ReadonlySet<string>;
  readonly close: () => Promise<void>;
}

interface SchedulerOptions {
  readonly sqs: Pick<Sqs, 'toSend'>;
  readonly groups: readonly string[];
  readonly region: string;
  readonly store: Store;
  readonly now: () => number;
  readonly report: (error: unknown) => void;
  /** Gets the fires that this process plans, if another process fires them. */
  readonly tell?: ((fire: Fire) => void) | undefined;
}

export async function startScheduler(options: SchedulerOptions): Promise<Scheduler> {
  const { sqs, groups, region, store, now, report, tell } = options;
  const schedules = new Schedules({
    ...{ groups, store, now },
    invoke: (invocation, write) => invokeTarget({ sqs, report }, invocation, write),
  });
  let firing: Firing | undefined;
  const plan = (fire: Fire): void => {
    if (firing === undefined) tell?.(fire);
    else firing.add(fire);
  };
  const rest = async (): Promise<void> => {
    const ending = firing;
    firing = undefined;
    await ending?.close();
  };
  const context = { schedules, region, plan };

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await readBody(request);
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://scheduler');
    const [, resource = '', name] = pathname.split('/');
    const operationName = `${request.method ?? ''} /${resource}${name === undefined ? '' : '/{Name}'}`;
    const operation = operations.get(operationName);
    if (operation === undefined) {
      throw new AwsError('ValidationException', `The local stage has no operation ${operationName}.`);
    }
    const input = {
      ...Object.fromEntries(searchParams),
      ...objectIn(body),
      ...(name !== undefined && { Name: decodeURIComponent(name) }),
    };
    answerJson(response, 200, 'application/json', await operation(context, input), headers());
  }

  const server = await startAwsServer({
    answer,
    refuse: (response, { code, message, status }) => {
      const errorHeaders = { ...headers(), 'x-amzn-errortype': code };
      answerJson(response, status, 'application/json', { Message: message }, errorHeaders);
    },
    failureCode,
    report,
  });
  const handOver = handedOverBy((_, input) => create(context, input), { failureCode, report });
  return {
    url: server.url,
    handedOver: { handOver, only: ['CreateSchedule'] },
    fire: async () => {
      await rest();
      firing = new Firing({ schedules, now, report });
      await firing.start();
    },
    rest,
    planned: (fire) => firing?.add(fire),
    readAgain: async () => firing?.readAgain(),
    nextDue: () => firing?.nextDue,
    wake: () => firing?.wake(),
    inputs: () => new Set(schedules.recurring().map(({ settings: { Target } }) => Target.Input)),
    close: async () => {
      await rest();
      await server.close();
    },
  };
}

/**
 * Sends a fire's message to the schedule's queue. If the queue refuses it, it is sent to the dead letter
 * queue at once, without attributes that describe the error, because the SQS stand-in has no message
 * attributes.
 */
function invokeTarget(
  { sqs, report }: Pick<SchedulerOptions, 'sqs' | 'report'>,
  invocation: Invocation,
  write: Write,
): () => void {
  const { name, settings } = invocation.schedule;
  const { Arn, DeadLetterConfig } = settings.Target;
  const body = bodyOf(invocation);
  const sent = sendTo(sqs, Arn, body, write);
  if (typeof sent === 'function') return sent;
  const undelivered = `Schedule ${name} could not fire to ${Arn}: ${sent}`;
  if (DeadLetterConfig?.Arn === undefined) {
    report(new Error(undelivered));
    return () => undefined;
  }
  const kept = sendTo(sqs, DeadLetterConfig.Arn, body, write);
  if (typeof kept === 'function') return kept;
  report(new Error(`${undelivered} Nor could its dead letter queue be reached: ${kept}`));
  return () => undefined;
}

/** Sends a message. Returns a function that makes it visible, or the queue's error. */
function sendTo(
  sqs: SchedulerOptions['sqs'],
  arn: string,
  body: string,
  write: Write,
): (() => void) | string {
  try {
    const { keep, release } = sqs.toSend(arn.slice(arn.lastIndexOf(':') + 1), body);
    keep(write);
    return release;
  } catch (error) {
    if (error instanceof AwsError) return error.message;
    throw error;
  }
}

/** Replaces the placeholder in the input with the time of the fire, in seconds. */
function bodyOf({ schedule, scheduledAt }: Invocation): string {
  const time = new Date(scheduledAt).toISOString().replace(/\.\d+Z$/, 'Z');
  return schedule.settings.Target.Input.replaceAll(scheduledTime, time);
}

const failureCode = 'InternalServerException';
const headers = (): Record<string, string> => ({ 'x-amzn-requestid': randomUUID() });

const jsonObject = z.record(z.string(), z.unknown());

function objectIn(body: Buffer | undefined): Record<string, unknown> {
  const parsed = jsonObject.safeParse(jsonOrUndefined(body?.toString('utf8') || '{}'));
  if (!parsed.success) throw new AwsError('ValidationException', 'The body is no JSON object.');
  return parsed.data;
}

interface SchedulerContext {
  readonly schedules: Schedules;
  readonly region: string;
  readonly plan: (fire: Fire) => void;
}

const operation = checkedOperations<SchedulerContext>('ValidationException');

/**
 * The group is called `groupName` in a query, `GroupName` in a body, and `ScheduleGroup` in the query of a
 * list.
 */
const namedSchedule = z.object({ Name: resourceName, groupName: z._default(resourceName, 'default') });
const listInput = z.object({
  ScheduleGroup: z.optional(resourceName),
  NamePrefix: z._default(resourceName, ''),
  NextToken: z.optional(z.never('the local stage lists all schedules on one page')),
});

const create = operation(
  createInput,
  async ({ schedules, region, plan }, { Name, GroupName, ClientToken, ...settings }) => {
    const id = { group: GroupName, name: Name };
    const fire = await schedules.create(id, settings, ClientToken);
    if (fire !== undefined) plan(fire);
    return { ScheduleArn: scheduleArn(region, id) };
  },
);

const operations = new Map<string, Operation<SchedulerContext>>(
  Object.entries({
    'POST /schedules/{Name}': create,
    'GET /schedules/{Name}': operation(namedSchedule, ({ schedules, region }, { Name, groupName }) => {
      const schedule = schedules.get({ group: groupName, name: Name });
      return { ...summaryOf(region, schedule), ...schedule.settings };
    }),
    'DELETE /schedules/{Name}': operation(namedSchedule, async ({ schedules }, { Name, groupName }) => {
      await schedules.delete({ group: groupName, name: Name });
      return {};
    }),
    'GET /schedules': operation(listInput, ({ schedules, region }, { ScheduleGroup, NamePrefix }) => {
      const found = schedules.list(ScheduleGroup).filter(({ name }) => name.startsWith(NamePrefix));
      return { Schedules: found.map((schedule) => summaryOf(region, schedule)) };
    }),
  }),
);

/** The part of a schedule that lists show, too. Times are in epoch seconds. */
function summaryOf(region: string, schedule: StoredSchedule) {
  return {
    Arn: scheduleArn(region, schedule),
    GroupName: schedule.group,
    Name: schedule.name,
    CreationDate: schedule.createdAt / 1000,
    Target: { Arn: schedule.settings.Target.Arn },
  };
}
