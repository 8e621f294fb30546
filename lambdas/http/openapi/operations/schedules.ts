import { made } from '../../../options/option.ts';
import type { RouteTable } from '../../route.ts';
import { messageId, schedule } from '../parts/examples.ts';
import { cursorHeaders, goesOn } from '../parts/arrays.ts';
import type { Errors } from '../parts/errors.ts';
import type { Operation, Operations } from '../parts/operation.ts';
import { refusalsOfSendingAgain } from './messages.ts';
import { tooManyQueues } from './queues.ts';

const noSuchSchedule = ['schedule_not_found', 'There is no schedule "nightly-report".'] as const;
const refusals: Errors = {
  400: [
    ['field_invalid', 'Svc-Cron is missing; allowed is a cron expression such as "*/5 * * * *".'],
    ['field_invalid', 'Svc-Retries is "many"; allowed is a whole number from 0 to 5.'],
  ],
  403: [
    [
      'destination_not_allowed',
      'The destination is "http://10.0.0.1/", which is not a public address; this deployment refuses it.',
    ],
  ],
  404: [['url_group_not_found', 'There is no URL group "unknown": topic unknown not found.']],
  412: [tooManyQueues],
  503: [['busy', 'The schedule "nightly-report" is being changed by many at once; send it again.']],
};

const pausing = (action: 'pause' | 'resume', method: 'post' | 'patch'): Operation => ({
  id: `${action}Schedule${method === 'patch' ? 'ByPatch' : ''}`,
  summary: action === 'pause' ? 'Pause a schedule' : 'Resume a schedule',
  description:
    action === 'pause'
      ? 'Its triggers are ignored until it is resumed.'
      : 'Triggers during the pause are not made up for, unless it has `Svc-Catch-Up`.',
  answers: { 200: { description: 'It is done.', schema: 'Nothing', example: {} } },
  errors: { 404: [noSuchSchedule] },
});

export const schedulesRoutes = {
  'POST /v2/schedules/{schedule+}': { access: 'write', audit: 'schedule.save' },
  'GET /v2/schedules': { access: 'read' },
  'GET /v2/schedules/{schedule}': { access: 'read' },
  'GET /v2/schedules/{schedule}/fires': { access: 'read' },
  'GET /v2/schedules/{schedule}/next': { access: 'read' },
  'PATCH /v2/schedules/{schedule}': { access: 'write', audit: 'schedule.change' },
  'DELETE /v2/schedules/{schedule}': { access: 'write', audit: 'schedule.delete' },
  'POST /v2/schedules/{schedule}/run': { access: 'write', audit: 'schedule.run' },
  'POST /v2/schedules/{schedule}/pause': { access: 'write', audit: 'schedule.pause' },
  'PATCH /v2/schedules/{schedule}/pause': { access: 'write', audit: 'schedule.pause' },
  'POST /v2/schedules/{schedule}/resume': { access: 'write', audit: 'schedule.resume' },
  'PATCH /v2/schedules/{schedule}/resume': { access: 'write', audit: 'schedule.resume' },
  'GET /v2/cron': { access: 'read' },
} as const satisfies RouteTable;

export const schedules = /* @__PURE__ */ made((): Operations<typeof schedulesRoutes> => ({
  'POST /v2/schedules/{schedule+}': {
    id: 'createSchedule',
    summary: 'Create or overwrite a schedule',
    description:
      'Publishes the body whenever `Svc-Cron` triggers, like a publish with the same headers. A schedule with the same `Svc-Schedule-Id` is replaced completely. A missing queue is created, now and with each message.',
    configuration: 'schedule',
    body: 'bytes',
    answers: {
      200: {
        description: 'It is there.',
        schema: 'Scheduled',
        example: { scheduleId: 'nightly-report' },
      },
    },
    errors: {
      ...refusals,
      412: [
        [
          'schedule_limit_reached',
          "The schedule would be number 1001, but the account's limit max_schedules is 1000.",
        ],
        ...(refusals[412] ?? []),
      ],
    },
  },
  'GET /v2/schedules': {
    id: 'listSchedules',
    summary: 'List the schedules',
    description: 'Shows bodies of up to 9 KiB. Get a single schedule to see a larger one.',
    query: {
      search: {
        description: 'A part of the wanted ids or destinations. Case does not matter.',
        schema: { type: 'string', minLength: 1 },
        example: 'report',
      },
      ...goesOn.query,
    },
    errors: {
      400: [
        ...(goesOn.errors?.[400] ?? []),
        ['field_invalid', 'search is empty; a parameter must have a value.'],
        ['field_unknown', '"prefix" is not a parameter here; allowed are search, cursor.'],
      ],
    },
    answers: {
      200: {
        description: 'All of them by id, or as many as fit into an answer.',
        headers: cursorHeaders,
        schema: 'Schedules',
        example: [schedule],
      },
    },
  },
  'GET /v2/schedules/{schedule}': {
    id: 'getSchedule',
    summary: 'Get a schedule',
    answers: { 200: { description: 'The schedule.', schema: 'Schedule', example: schedule } },
    errors: { 404: [noSuchSchedule], ...(refusals[503] && { 503: refusals[503] }) },
  },
  'GET /v2/schedules/{schedule}/fires': {
    id: 'listScheduleFires',
    summary: 'List the last fires of a schedule',
    answers: {
      200: {
        description: 'Its last fires, with the outcomes of their messages.',
        schema: 'ScheduleFires',
        example: {
          fires: [{ time: 1_767_232_800_000, messages: 1, states: { [messageId]: 'SUCCESS' } }],
        },
      },
    },
    errors: { 404: [noSuchSchedule] },
  },
  'GET /v2/schedules/{schedule}/next': {
    id: 'listNextFires',
    summary: 'List the next fires of a schedule',
    description: 'Each also in the schedule’s time zone. A paused schedule does not publish at these times.',
    query: {
      count: {
        description: 'How many. Default: 10.',
        schema: { type: 'integer', minimum: 1, maximum: 100 },
        example: 10,
      },
    },
    answers: {
      200: {
        description: 'Its next fires.',
        schema: 'NextFires',
        example: {
          timezone: 'Europe/Berlin',
          isPaused: false,
          fires: [{ time: 1_767_232_800_000, local: '2026-01-01 03:00' }],
        },
      },
    },
    errors: {
      400: [['field_invalid', 'count is "0"; allowed is a whole number from 1 to 100.']],
      404: [noSuchSchedule],
    },
  },
  'PATCH /v2/schedules/{schedule}': {
    id: 'changeSchedule',
    summary: 'Change a schedule',
    description:
      'Settings that the body does not name stay as they are, including those that answers do not show: a redacted body, credentials in a URL, and the settings of callbacks.',
    body: {
      required: true,
      schema: 'ScheduleChange',
      example: { headers: { 'Svc-Cron': '0 9 * * *', 'Svc-Label': '' } },
    },
    answers: {
      200: {
        description: 'It is changed.',
        schema: 'Scheduled',
        example: { scheduleId: 'nightly-report' },
      },
    },
    errors: {
      ...refusals,
      400: [
        [
          'field_invalid',
          'headers.Svc-Schedule-Id is given; allowed are all other headers, because an id cannot change.',
        ],
        ...(refusals[400] ?? []),
      ],
      404: [noSuchSchedule, ...(refusals[404] ?? [])],
    },
  },
  'DELETE /v2/schedules/{schedule}': {
    id: 'deleteSchedule',
    summary: 'Delete a schedule',
    answers: { 200: { description: 'It is gone.', schema: 'Nothing', example: {} } },
    errors: { 404: [noSuchSchedule] },
  },
  'POST /v2/schedules/{schedule}/run': {
    id: 'runSchedule',
    summary: 'Run a schedule now',
    description:
      'Publishes its message as if it had triggered, even while it is paused. Its last and next fires stay as they are.',
    isHeldToUsage: true,
    answers: {
      200: {
        description: 'Accepted: one id, or one for each endpoint of a URL group.',
        schema: 'PublishAnswer',
        example: { messageId },
      },
    },
    errors: {
      400: [
        ['body_invalid', 'The body has 5 bytes; a body is not allowed, because the schedule has its own.'],
      ],
      403: [
        [
          'destination_not_allowed',
          'The destination is "http://10.0.0.1/", which is not a public address; this deployment refuses it.',
        ],
      ],
      404: [
        noSuchSchedule,
        ['url_group_not_found', 'There is no URL group "unknown": topic unknown not found.'],
      ],
      ...refusalsOfSendingAgain,
    },
  },
  'POST /v2/schedules/{schedule}/pause': pausing('pause', 'post'),
  'PATCH /v2/schedules/{schedule}/pause': pausing('pause', 'patch'),
  'POST /v2/schedules/{schedule}/resume': pausing('resume', 'post'),
  'PATCH /v2/schedules/{schedule}/resume': pausing('resume', 'patch'),
  'GET /v2/cron': {
    id: 'explainCron',
    summary: 'Explain a cron expression',
    description: 'Returns when a schedule with this expression would fire. Changes nothing.',
    query: {
      expression: {
        description: 'An expression as in `Svc-Cron`, percent-encoded.',
        required: true,
        schema: { type: 'string', minLength: 1 },
        example: 'CRON_TZ=Europe/Berlin 30 9 * * MON-FRI',
      },
    },
    answers: {
      200: {
        description: 'When it fires.',
        schema: 'ExplainedCron',
        example: {
          cron: 'CRON_TZ=Europe/Berlin 30 9 * * MON-FRI',
          timezone: 'Europe/Berlin',
          description: 'At 09:30, on Monday to Friday.',
          nextFires: [
            1_795_509_000_000, 1_795_595_400_000, 1_795_681_800_000, 1_795_768_200_000, 1_796_027_400_000,
          ],
        },
      },
    },
    errors: {
      400: [
        ['field_invalid', 'expression is missing; allowed is a cron expression such as "*/5 * * * *".'],
        [
          'cron_invalid',
          'expression is "61 * * * *": in the minute field, "61" is out of range. Allowed are 0 to 59, *, ranges (a-b), lists (a,b) and steps (*/n, a-b/n, a/n).',
        ],
        ['field_unknown', '"cron" is not a parameter here; allowed are expression.'],
      ],
    },
  },
}));
