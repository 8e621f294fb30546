/** Amazon EventBridge Scheduler for the local stage: its REST and JSON protocol over `Schedules`. */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import * as z from 'zod/mini';
import { answerJson, close, listen, readBody } from './http.ts';
import { SchedulerError } from './schedulerError.ts';
import type { SchedulerJournal, StoredGroup, StoredSchedule } from './schedulerJournal.ts';
import { resourceName, scheduleSettings } from './schedulerSettings.ts';
import { invokeTarget, scheduleArn, scheduleGroupArn } from './schedulerTarget.ts';
import { Schedules } from './schedules.ts';
import type { Sqs } from './sqs.ts';

export interface Scheduler {
  readonly url: string;
  /** When a schedule fires next, in epoch milliseconds. */
  nextDue(): number | undefined;
  /** Looks at the clock again, after it has jumped. */
  wake(): void;
  readonly close: () => Promise<void>;
}

export interface SchedulerOptions {
  /** Where schedules fire to. */
  readonly sqs: Pick<Sqs, 'send'>;
  /** Schedule groups that are to be there. */
  readonly groups: readonly string[];
  readonly region: string;
  readonly journal: SchedulerJournal;
  /** Epoch milliseconds. */
  readonly now: () => number;
  readonly report: (error: unknown) => void;
}

export async function startScheduler(options: SchedulerOptions): Promise<Scheduler> {
  const { sqs, groups, region, journal, now, report } = options;
  const schedules = new Schedules({
    ...{ journal, now, report },
    invoke: (invocation) => {
      invokeTarget({ sqs, region, report }, invocation);
    },
  });
  for (const group of groups) {
    if (!journal.kept.groups.has(group)) schedules.createGroup(group);
  }
  const { server, url } = await listen((request, response) => {
    response.setHeader('x-amzn-RequestId', randomUUID());
    answer(request, response).catch((error: unknown) => {
      if (error instanceof SchedulerError) {
        refuse(response, error.status, error.type, error.message);
        return;
      }
      report(error);
      if (response.headersSent) response.destroy();
      else refuse(response, 500, 'InternalServerException', 'The schedules failed.');
    });
  });

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await readBody(request);
    const { pathname, searchParams } = new URL(request.url ?? '/', url);
    const [, resource = '', name] = pathname.split('/');
    const operation = `${request.method ?? ''} /${resource}${name === undefined ? '' : '/{Name}'}`;
    const action = actions.get(operation);
    if (action === undefined) {
      throw new SchedulerError('ValidationException', `The local stage has no operation ${operation}.`);
    }
    const output = action(
      { schedules, region },
      {
        ...Object.fromEntries(searchParams),
        ...objectIn(body),
        ...(name !== undefined && { Name: decodeURIComponent(name) }),
      },
    );
    answerJson(response, 200, 'application/json', output);
  }

  return {
    url,
    nextDue: () => schedules.nextDue,
    wake: () => {
      schedules.wake();
    },
    close: async () => {
      schedules.close();
      await close(server);
    },
  };
}

function refuse(response: ServerResponse, status: number, type: string, message: string): void {
  answerJson(response, status, 'application/json', { Message: message }, { 'x-amzn-errortype': type });
}

const jsonObject = z.record(z.string(), z.unknown());

function objectIn(body: Buffer | undefined): Record<string, unknown> {
  const text = body?.toString('utf8') ?? '';
  if (text === '') return {};
  try {
    return jsonObject.parse(JSON.parse(text));
  } catch (error) {
    if (!(error instanceof SyntaxError) && !(error instanceof z.core.$ZodError)) throw error;
    throw new SchedulerError('ValidationException', 'The body is no JSON object.');
  }
}

interface Call {
  readonly schedules: Schedules;
  readonly region: string;
}

/** What it takes is the path's name, the query and the body in one. */
type Action = (call: Call, input: unknown) => object;

/** An action whose input is checked first. */
function action<Schema extends z.ZodMiniType>(
  schema: Schema,
  run: (call: Call, input: z.infer<Schema>) => object,
): Action {
  return (call, input) => {
    const parsed = schema.safeParse(input);
    if (!parsed.success) throw new SchedulerError('ValidationException', z.prettifyError(parsed.error));
    return run(call, parsed.data);
  };
}

const clientToken = z.optional(z.string().check(z.regex(/^[a-zA-Z0-9\-_]{1,64}$/)));
/** In the body the group is `GroupName`, in a query `groupName`, and in that of a list `ScheduleGroup`. */
const group = z._default(resourceName, 'default');
const namedSchedule = z.object({ Name: resourceName, groupName: group });
const namedGroup = z.object({ Name: resourceName });
const scheduleInput = z.extend(scheduleSettings, { Name: resourceName, GroupName: group });
const newSchedule = z.extend(scheduleInput, { ClientToken: clientToken });
const paged = {
  NamePrefix: z._default(resourceName, ''),
  NextToken: z.optional(z.string()),
  MaxResults: z._default(z.coerce.number().check(z.int(), z.gte(1), z.lte(100)), 100),
};

const actions = new Map<string, Action>([
  [
    'POST /schedules/{Name}',
    action(newSchedule, ({ schedules, region }, { Name, GroupName, ClientToken, ...settings }) => {
      const id = { group: GroupName, name: Name };
      schedules.create(id, settings, ClientToken);
      return { ScheduleArn: scheduleArn(region, id) };
    }),
  ],
  [
    'PUT /schedules/{Name}',
    action(scheduleInput, ({ schedules, region }, { Name, GroupName, ...settings }) => {
      const id = { group: GroupName, name: Name };
      schedules.update(id, settings);
      return { ScheduleArn: scheduleArn(region, id) };
    }),
  ],
  [
    'GET /schedules/{Name}',
    action(namedSchedule, ({ schedules, region }, { Name, groupName }) => {
      const schedule = schedules.get({ group: groupName, name: Name });
      return { ...namesAndDates(region, schedule), ...schedule.settings };
    }),
  ],
  [
    'DELETE /schedules/{Name}',
    action(namedSchedule, ({ schedules }, { Name, groupName }) => {
      schedules.delete({ group: groupName, name: Name });
      return {};
    }),
  ],
  [
    'GET /schedules',
    action(
      z.object({
        ...paged,
        ScheduleGroup: z.optional(resourceName),
        State: z.optional(z.enum(['ENABLED', 'DISABLED'])),
      }),
      ({ schedules, region }, { ScheduleGroup, State, ...page }) => {
        const { items, next } = schedules.list({ group: ScheduleGroup, state: State }, pageOf(page));
        return {
          Schedules: items.map((schedule) => ({
            ...namesAndDates(region, schedule),
            State: schedule.settings.State,
            Target: { Arn: schedule.settings.Target.Arn },
          })),
          NextToken: tokenOf(next),
        };
      },
    ),
  ],
  [
    'POST /schedule-groups/{Name}',
    action(z.extend(namedGroup, { ClientToken: clientToken }), ({ schedules, region }, input) => {
      schedules.createGroup(input.Name, input.ClientToken);
      return { ScheduleGroupArn: scheduleGroupArn(region, input.Name) };
    }),
  ],
  [
    'GET /schedule-groups/{Name}',
    action(namedGroup, ({ schedules, region }, { Name }) => groupToWire(region, schedules.group(Name))),
  ],
  [
    'DELETE /schedule-groups/{Name}',
    action(namedGroup, ({ schedules }, { Name }) => {
      schedules.deleteGroup(Name);
      return {};
    }),
  ],
  [
    'GET /schedule-groups',
    action(z.object(paged), ({ schedules, region }, page) => {
      const { items, next } = schedules.listGroups(pageOf(page));
      return { ScheduleGroups: items.map((item) => groupToWire(region, item)), NextToken: tokenOf(next) };
    }),
  ],
]);

/** Dates are epoch seconds on the wire. */
function namesAndDates(region: string, schedule: StoredSchedule) {
  return {
    Arn: scheduleArn(region, schedule),
    GroupName: schedule.group,
    Name: schedule.name,
    CreationDate: schedule.createdAt / 1000,
    LastModificationDate: schedule.modifiedAt / 1000,
  };
}

function groupToWire(region: string, { name, createdAt }: StoredGroup) {
  return {
    Arn: scheduleGroupArn(region, name),
    Name: name,
    State: 'ACTIVE',
    CreationDate: createdAt / 1000,
    LastModificationDate: createdAt / 1000,
  };
}

interface WirePage {
  readonly NamePrefix: string;
  readonly NextToken?: string | undefined;
  readonly MaxResults: number;
}

function pageOf({ NamePrefix, NextToken, MaxResults }: WirePage) {
  const after = NextToken === undefined ? undefined : Buffer.from(NextToken, 'base64url').toString('utf8');
  return { namePrefix: NamePrefix, after, max: MaxResults };
}

function tokenOf(next: string | undefined): string | undefined {
  return next === undefined ? undefined : Buffer.from(next).toString('base64url');
}
