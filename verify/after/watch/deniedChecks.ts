/** Checks that no role of the deployment was denied a call. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Event, LookupEventsCommand } from '@aws-sdk/client-cloudtrail';
import * as z from 'zod';
import { type Check, expectNone } from '../../check.ts';
import { logLines } from '../../logs.ts';
import type { After } from '../context.ts';

/** A request to each API function. If a role lacks a permission, the log shows it. */
const requests = [
  '/v2/messages',
  '/v2/logs?count=1',
  '/v2/topics',
  '/v2/queues',
  '/v2/globalParallelism',
  '/v2/dlq?count=1',
  '/v2/schedules',
  '/v2/workflows/logs?count=1',
  '/v2/keys',
  '/v2/stats',
];

/** IAM's error message names who, the action and the resource; see "Troubleshoot access denied error messages" in its guide. */
const denial = /(?:User: )?\S+ is not authorized to perform: [\w:]+(?: on resource: \S+)?/;

/** CloudWatch Logs shows a line within seconds. */
const ingestionMs = 10_000;

const record = z.object({
  eventName: z.string(),
  eventSource: z.string(),
  errorCode: z.string().optional(),
  errorMessage: z.string().optional(),
});

/** Error codes for denied calls; services spell them differently. */
const denied = /AccessDenied|UnauthorizedOperation|NotAuthorized/;

export const deniedIn = (events: readonly Event[]): readonly string[] =>
  events.flatMap(({ CloudTrailEvent = '{}', Username = '' }) => {
    const json: unknown = JSON.parse(CloudTrailEvent);
    const { data } = record.safeParse(json);
    return data !== undefined && denied.test(data.errorCode ?? '')
      ? [
          `${Username}: ${data.eventName} of ${data.eventSource}, ${data.errorMessage ?? String(data.errorCode)}`,
        ]
      : [];
  });

/**
 * "The rate of lookup requests is limited to two per second, per account, per Region" (LookupEvents, CloudTrail API Reference).
 */
const lookupMs = 600;

/** Pages of 50 events for each function, newest first. */
const mostPages = 5;

/**
 * CloudTrail shows a call after about five minutes ("How CloudTrail works"). An hour includes earlier runs.
 */
const lookedBackMs = 3_600_000;

const remedy =
  'Look at the role of the function: svc-queue drift shows a changed one. Does a policy of the organisation, or of an endpoint, forbid the call?';

export const deniedChecks: readonly Check<After>[] = [
  {
    name: 'denied',
    shows: 'no function was denied a call in this run, by its log',
    remedy,
    run: async ({ api, clients: { logs }, resources, startedAt, timeout }) => {
      for (const path of requests) await api.client.send('GET', path);
      await sleep(Math.min(ingestionMs, timeout.waitMs), undefined, { signal: timeout.signal });
      const groups = resources.filter(({ type }) => type === 'AWS::Logs::LogGroup');
      const denials = new Set<string>();
      // One at a time: CloudWatch limits such calls to a few per second.
      for (const { logicalId, physicalId } of groups) {
        for (const line of await logLines(logs, physicalId, startedAt, '"not authorized to perform"'))
          denials.add(`${logicalId}: ${denial.exec(line)?.[0] ?? line.slice(0, 200)}`);
      }
      expectNone([...denials].slice(0, 5), (list) => `Calls were denied: ${list}.`);
      return `no function wrote of a denied call, in ${groups.length} logs`;
    },
  },
  {
    name: 'denied-trail',
    shows: 'no role of the functions was denied a call in the last hour, by CloudTrail',
    remedy,
    notOnEmulator: 'the emulator notes no denied calls',
    run: async ({ clients: { cloudTrail }, resources, startedAt, timeout }) => {
      const functions = resources.filter(({ type }) => type === 'AWS::Lambda::Function');
      const denials: string[] = [];
      let looked = 0;
      for (const { physicalId } of functions) {
        let NextToken: string | undefined;
        for (let page = 0; page < mostPages && (page === 0 || NextToken !== undefined); page += 1) {
          const found = await cloudTrail.send(
            new LookupEventsCommand({
              // A function's role session has the function's name.
              LookupAttributes: [{ AttributeKey: 'Username', AttributeValue: physicalId }],
              StartTime: new Date(startedAt - lookedBackMs),
              EndTime: new Date(),
              ...(NextToken !== undefined && { NextToken }),
            }),
          );
          ({ NextToken } = found);
          looked += found.Events?.length ?? 0;
          denials.push(...deniedIn(found.Events ?? []));
          await sleep(lookupMs, undefined, { signal: timeout.signal });
        }
      }
      expectNone([...new Set(denials)].slice(0, 5), (list) => `CloudTrail has denied calls: ${list}.`);
      return `none of ${looked} calls of ${functions.length} functions in CloudTrail was denied; it has no calls of data, and those of the last minutes may follow: --only denied-trail`;
    },
  },
];
