import * as z from 'zod/mini';
import { limitsOf } from '../account/account.ts';
import type { Caller } from '../account/caller.ts';
import { beginChange, finishChange, withdrawRefused, type AuditPlace } from '../audit/audited.ts';
import { changesBetween, hideForwarded, type Changes } from '../audit/changes.ts';
import { shownConfig, type Header } from '../shared/headers.ts';
import { parseJson } from '../shared/json.ts';
import { namePattern } from '../value/names.ts';
import { variablesIn } from './findRoute.ts';
import type { Call } from './handler.ts';
import type { Result } from './request.ts';

export interface Audited {
  readonly place: AuditPlace;
  readonly call: Call;
  /** Reads the subject from the answer if the request does not name it. */
  readonly made: z.ZodMiniType<string> | undefined;
}

/** Characters. */
const longestSubject = 256;

const actorOf = ({ access, named }: Caller): string =>
  named?.id ?? (access === 'write' ? 'token' : 'readOnlyToken');

const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
};

/** Filters whose values are names. Other values, such as URLs, may contain secrets. */
const shownFilters = new Set([
  'topicName',
  'queueName',
  'label',
  'flowControlKey',
  'scheduleId',
  'host',
  'state',
  'responseStatus',
  'fromDate',
  'toDate',
  'count',
  'background',
]);

const named = z.object({ queueName: z.string().check(z.regex(namePattern)) });

/** Reads the subject of requests whose path does not name it. */
const subjects: Readonly<Record<string, (call: Call) => string | undefined>> = {
  '/v2/queues': ({ request }) => {
    try {
      return named.safeParse(parseJson('The body', request.body)).data?.queueName;
    } catch {
      return undefined;
    }
  },
  '/v2/schedules/{schedule+}': ({ canonical }) =>
    canonical.config.get('schedule-id')?.find((text) => namePattern.test(text)),
};

/** The filters of a query, without those that may contain secrets. */
export const filtersOf = (query: readonly Header[]): string =>
  query.map(([name, value]) => (shownFilters.has(name) ? `${name}=${value}` : `${name}=…`)).join(' ');

function subjectOf(call: Call): string | undefined {
  const { path } = call.route;
  const own = Object.hasOwn(subjects, path) ? subjects[path] : undefined;
  const [variable] = own === undefined ? Object.values(variablesIn(path, call.request.rawPath)) : [];
  const subject =
    own === undefined
      ? variable === undefined
        ? filtersOf(call.canonical.otherQuery)
        : decoded(variable)
      : own(call);
  return subject === undefined || subject === ''
    ? undefined
    : subject.slice(0, longestSubject).toWellFormed();
}

/** Every account may make this many changes, even if it may send few messages. */
const leastChangesPerDay = 100;

/** Writes a request's entry before the request is answered. */
export async function beginAudited(call: Call, caller: Caller): Promise<Audited | undefined> {
  const { audit: action } = call.route;
  if (action === undefined) return undefined;
  const subject = subjectOf(call);
  const address = call.request.callerIp;
  const change = { actor: actorOf(caller), action, subject, address };
  const mostPerDay = Math.max(leastChangesPerDay, limitsOf(caller.account).max_requests_per_day_hard);
  const place = await beginChange(caller.account, change, mostPerDay);
  const { path } = call.route;
  const made = subject === undefined && Object.hasOwn(madeBy, path) ? madeBy[path] : undefined;
  return { place, call, made };
}

/** Reads from the answer what a request has made. */
const madeBy: Readonly<Record<string, z.ZodMiniType<string>>> = {
  '/v2/schedules/{schedule+}': z.pipe(
    z.object({ scheduleId: z.string() }),
    z.transform(({ scheduleId }) => scheduleId),
  ),
  '/v2/tokens': z.pipe(
    z.object({ id: z.string() }),
    z.transform(({ id }) => id),
  ),
};

const numberIn = (field: 'cancelled' | 'deleted'): z.ZodMiniType<number> =>
  z.pipe(
    z.object({ [field]: z.number() }),
    z.transform((answer) => answer[field] ?? 0),
  );
const lengthOf = (field: 'responses' | 'workflowRuns'): z.ZodMiniType<number> =>
  z.pipe(
    z.object({ [field]: z.array(z.unknown()) }),
    z.transform((answer) => answer[field]?.length ?? 0),
  );

const numbers: Readonly<Record<string, z.ZodMiniType<number>>> = {
  '/v2/messages': numberIn('cancelled'),
  '/v2/dlq': numberIn('deleted'),
  '/v2/dlq/retry': lengthOf('responses'),
  '/v2/workflows/runs': numberIn('cancelled'),
  '/v2/workflows/dlq': numberIn('deleted'),
  '/v2/workflows/dlq/resume': lengthOf('workflowRuns'),
  '/v2/workflows/dlq/restart': lengthOf('workflowRuns'),
};

/** Routes whose requests have settings for the messages that they send again. */
const sendsAgain =
  /^\/v2\/(messages\/publish|dlq\/retry|workflows\/(dlq|runs\/\{runId\})\/(resume|restart))\b/;

/** The settings of a request, without headers that describe the client or address its endpoint. */
function settingsOf({ canonical: { prefix, config } }: Call): Changes {
  const settings = [...config].filter(([name]) => !/^(workflow-|telemetry-|feature-set$)/.test(name));
  return changesBetween(undefined, shownConfig(prefix, new Map(settings)), hideForwarded);
}

export async function finishAudited(
  { place, call, made }: Audited,
  { body, isBase64Encoded }: Result,
  changes?: Changes,
): Promise<void> {
  const { path } = call.route;
  const numberOf = Object.hasOwn(numbers, path) ? numbers[path] : undefined;
  const answer: unknown =
    made === undefined && numberOf === undefined
      ? undefined
      : JSON.parse(isBase64Encoded === true ? Buffer.from(body, 'base64').toString() : body);
  await finishChange(place, {
    subject: made?.safeParse(answer).data,
    number: numberOf?.safeParse(answer).data,
    changes: changes ?? (sendsAgain.test(path) ? settingsOf(call) : undefined),
  });
}

export const refuseAudited = ({ place }: Audited, error: unknown): Promise<void> =>
  withdrawRefused(place, error);
