import { made } from '../../../options/option.ts';
import type { RouteTable } from '../../route.ts';
import { auditActions } from '../../../wire/auditActions.ts';
import { messageId, namedToken, ownStats, runId, start } from '../parts/examples.ts';
import type { Operations } from '../parts/operation.ts';
import type { Shown } from '../parts/schemas.ts';

const metrics = `# HELP svc_queue_waiting Messages that wait in a queue.
# TYPE svc_queue_waiting gauge
svc_queue_waiting{queue="mail"} 12
# HELP svc_messages_total Messages that ended since midnight UTC, by outcome.
# TYPE svc_messages_total counter
svc_messages_total{state="delivered"} 489
`;

export const statsRoutes = {
  'GET /v2/stats': { access: 'read' },
  'GET /v2/stats/attention': { access: 'read' },
  'GET /v2/stats/hosts': { access: 'read' },
  'GET /v2/stats/lanes': { access: 'read' },
  'GET /v2/search': { access: 'read' },
  'GET /v2/metrics': { access: 'read' },
  'GET /v2/audit': { access: 'read' },
} as const satisfies RouteTable;

export const stats = /* @__PURE__ */ made((): Operations<typeof statsRoutes> => ({
  'GET /v2/stats/attention': {
    id: 'getAttention',
    summary: 'Get what needs attention',
    description:
      'Hosts that are down or fail, hanging runs, paused queues and flow-control keys with the number of waiting messages, schedules whose last fire failed, and the numbers of dead letters and failed runs of the last day. If all is well, the lists are empty and both numbers are 0. Parts that could not be read in time are named in `cut`, and are absent if nothing of them was found.',
    answers: {
      200: {
        description: 'The things that need attention.',
        schema: 'Attention',
        example: {
          since: 1_767_139_200_000,
          hostsDown: [{ host: 'hooks.example.com', waiting: 128, openedAt: 1_767_225_600_000 }],
          failingHosts: [
            {
              host: 'api.example.com',
              attempts: 100,
              failures: 100,
              failingSince: 1_767_226_920_000,
              lastSuccess: 1_767_225_480_000,
              lastStatus: 503,
            },
          ],
          hangingRuns: [
            {
              workflowRunId: runId,
              workflowCreatedAt: 1_767_225_540_000,
              workflowUrl: 'https://example.com/workflows/orders',
              since: 1_767_225_600_000,
              status: 200,
            },
          ],
          pausedQueues: [{ name: 'mail', waiting: 12 }],
          pausedKeys: [],
          failingSchedules: [{ scheduleId: 'nightly-report', firedAt: 1_767_232_800_000 }],
          deadLetters: 6,
          failedRuns: 0,
          isWhole: true,
          cut: [],
        },
      },
    },
  },
  'GET /v2/stats/hosts': {
    id: 'getHostTimes',
    summary: 'Get how destinations’ hosts answered recently',
    description:
      'Counts attempts, failures and answer times by host, from the newest records of the log: 1,000 at most, including callbacks and retries. With `host`, it counts those of one host since a time, and also over time; it reads the log for up to a second, or ten megabytes of each shard.',
    query: {
      host: {
        description: 'The host, with its port if the URL has one.',
        schema: { type: 'string' },
        example: 'hooks.example.com',
      },
      since: {
        description: 'With `host`: Unix milliseconds, inclusive; by default a day ago.',
        schema: { type: 'integer' },
        example: start,
      },
    },
    errors: {
      400: [['field_invalid', 'since is "yesterday"; allowed is a whole number from 0 to 999999999999999.']],
    },
    answers: {
      200: {
        description: 'The hosts.',
        schema: 'HostTimes',
        example: {
          attempts: 1_000,
          from: 1_767_225_600_000,
          lookedFrom: 1_767_225_600_000,
          hosts: [
            {
              host: 'hooks.example.com',
              attempts: 640,
              failures: 12,
              p50: 84,
              p95: 910,
              p99: 1_204,
              firstFailure: 1_767_229_140_000,
              lastFailure: 1_767_229_200_000,
              lastSuccess: 1_767_229_100_000,
              failingSince: 1_767_229_140_000,
              failuresInRow: 12,
              lastStatus: 503,
            },
          ],
        },
      },
    },
  },
  'GET /v2/search': {
    id: 'findNames',
    summary: 'Find things by a part of their name',
    description:
      'Queues, flow-control keys, URL groups, schedules, hosts, labels and workflow runs whose name begins with a text or contains it, in any case. All kinds are searched at the same time, while somebody types.',
    query: {
      q: {
        description: 'The text: 1 to 200 characters.',
        schema: { type: 'string', minLength: 1, maxLength: 200 },
        required: true,
        example: 'mail',
      },
    },
    errors: {
      400: [['field_invalid', 'q is ""; allowed is a text of 1 to 200 characters.']],
    },
    answers: {
      200: {
        description: 'The matches.',
        schema: 'FoundNames',
        example: { results: [{ kind: 'queue', name: 'mail', link: '/v2/queues/mail' }], isWhole: true },
      },
    },
  },
  'GET /v2/stats/lanes': {
    id: 'getLaneTimes',
    summary: 'Get how many messages waited for a queue or a flow-control key in the last day',
    description:
      'By hour: the longest line, and how many attempts ended. Attempts are counted from the log, which is read for up to a second, or ten megabytes of each shard.',
    query: {
      queueName: {
        description: 'The name of a queue; either this or `flowControlKey`.',
        schema: { type: 'string' },
        example: 'mail',
      },
      flowControlKey: {
        description: 'A flow-control key; either this or `queueName`.',
        schema: { type: 'string' },
        example: 'tenant-7',
      },
    },
    errors: {
      400: [['field_invalid', 'queueName and flowControlKey are missing; allowed is one of them.']],
      404: [
        ['queue_not_found', 'There is no queue "unknown".'],
        ['flow_control_key_not_found', 'There is no flow-control key "unknown".'],
      ],
    },
    answers: {
      200: {
        description: 'The hours, here two of them.',
        schema: 'LaneTimes',
        example: {
          hours: [
            { from: start, depth: 0, attempts: 120, failures: 0 },
            { from: start + 3_600_000, depth: 640, attempts: 96, failures: 31 },
          ],
        },
      },
    },
  },
  'GET /v2/stats': {
    id: 'getStats',
    summary: 'Get the account’s usage and outcomes',
    description:
      'Hours and days are in UTC. Each list has all of them, even those without messages. Any token of the account is accepted, and `access` shows its rights.\n\nWhat is used, and what is `accepted`, is counted by many processes that add up what they have counted in steps: it is right within a hundred messages of a day, or a hundredth of them. `delivered`, `failed` and `cancelled` are counted from the log, each in the hour in which it happened, and are exact but for two things: a record that AWS takes more than two minutes to store is left out, and a message that was cancelled on its way and arrived all the same counts as both. Messages that wait or are retried have no outcome yet.',
    answers: {
      200: {
        description: 'The statistics, here of a day and an hour.',
        schema: 'OwnStats',
        example: ownStats,
      },
    },
  },
  'GET /v2/metrics': {
    id: 'readMetrics',
    summary: 'Get metrics in Prometheus’ text format',
    description:
      'The numbers of waiting, in-flight and permanently failed messages, paused queues and keys, hosts that are down, the account’s limits, and what ended since midnight UTC. At most 1,000 series, those of the busiest queues and keys; `svc_series_dropped` is the number of others. The counters are two minutes behind, so that they never shrink within a day.',
    answers: {
      200: { description: 'The metrics, here a part of them.', type: 'text/plain', example: metrics },
    },
  },
  'GET /v2/audit': {
    id: 'readAudit',
    summary: 'Read the audit trail',
    description:
      'Who changed what: schedules, URL groups, queues, keys, flow-control limits, bulk operations, named tokens, and the account itself. Publishes are in the log. Entries are kept for 90 days, have no secrets, and are listed newest first. An entry is written before its change, so every change has one. After a 5xx the entry stays, because the change may have been made.',
    query: {
      fromDate: { description: 'Unix milliseconds, inclusive.', schema: { type: 'integer' }, example: start },
      toDate: { description: 'Unix milliseconds, inclusive.', schema: { type: 'integer' }, example: start },
      actor: {
        description: '`token`, `readOnlyToken`, ids of named tokens, or `operator`; separated by commas.',
        schema: { type: 'string' },
        example: 'operator',
      },
      action: {
        description: `Several by commas, of ${auditActions.map((one) => `\`${one}\``).join(', ')}.`,
        schema: { type: 'string' },
        example: 'queue.pause,queue.resume',
      },
      subject: { description: 'The changes.', schema: { type: 'string' }, example: 'orders' },
      count: {
        description: 'The most entries on a page, by default 100.',
        schema: { type: 'integer', minimum: 1, maximum: 100 },
        example: 20,
      },
      cursor: { description: 'Where the next page begins.', schema: { type: 'string' } },
    },
    answers: {
      200: {
        description: 'A page of the audit trail.',
        schema: 'AuditPage',
        example: {
          entries: [
            {
              time: start,
              actor: 'operator',
              action: 'account.change',
              subject: 'budget',
              address: '192.0.2.7',
              changes: [{ field: 'budget', before: '0', after: '50' }],
            },
            {
              time: start - 60_000,
              actor: namedToken.id,
              action: 'queue.pause',
              subject: 'mail',
              address: '192.0.2.9',
            },
          ],
        },
      },
    },
    errors: {
      400: [
        ['field_invalid', 'fromDate is "yesterday"; allowed is a whole number from 0 to 999999999999999.'],
        [
          'field_unknown',
          '"user" is not a parameter here; allowed are fromDate, toDate, actor, action, subject, cursor, count.',
        ],
      ],
    },
  },
}));

const alarmSettings = {
  url: 'https://hooks.slack.com/services/T0000/B0000/XXXX',
  format: 'slack',
  deadLetters: { above: 10, minutes: 15 },
  hosts: true,
  schedules: true,
  limits: 80,
  quietHours: { from: '22:00', to: '07:00', timezone: 'Europe/Berlin' },
} as const;

const shown: Shown<'Alarms'> = {
  settings: alarmSettings,
  open: [
    {
      kind: 'hosts',
      subject: 'api.example.com',
      title: 'The host api.example.com fails',
      detail: 'Its last 12 attempts failed, the last one with status 503.',
      openedAt: start,
      isTold: true,
    },
  ],
};

export const alarmsRoutes = {
  'GET /v2/alarms': { access: 'read' },
  'PUT /v2/alarms': { access: 'write', audit: 'alarms.save' },
  'DELETE /v2/alarms': { access: 'write', audit: 'alarms.delete' },
  'POST /v2/alarms/test': { access: 'write' },
} as const satisfies RouteTable;

export const alarms = /* @__PURE__ */ made((): Operations<typeof alarmsRoutes> => ({
  'GET /v2/alarms': {
    id: 'getAlarms',
    summary: 'Get the alarms, and which are open',
    description:
      'The account is checked every five minutes. A read-only token does not see the routing key or the values of headers.',
    answers: { 200: { description: 'The alarms.', schema: 'Alarms', example: shown } },
  },
  'PUT /v2/alarms': {
    id: 'putAlarms',
    summary: 'Set the alarms',
    description:
      'Replaces the alarms that were set. If the URL, the format or the routing key changes, open alarms are reported to the new one, too.',
    body: { required: true, schema: 'AlarmSettings', example: alarmSettings },
    answers: { 200: { description: 'The alarms.', schema: 'Alarms', example: shown } },
    errors: {
      400: [
        ['body_invalid', 'The body is not JSON.'],
        ['field_invalid', 'routingKey is missing; the format pagerduty takes 32 letters and digits.'],
        ['destination_invalid', 'url has 2100 characters; allowed are 2048.'],
      ],
      403: [
        [
          'destination_not_allowed',
          'url is "http://10.0.0.7/", which is not a public address; this deployment refuses it.',
        ],
      ],
      503: [['busy', 'The alarms are being changed by many at once; send the change again.']],
    },
  },
  'DELETE /v2/alarms': {
    id: 'deleteAlarms',
    summary: 'Remove the alarms',
    description: 'Alarms are no longer reported, nor is the end of those that are open.',
    answers: { 200: { description: 'The alarms are removed.', schema: 'Nothing', example: {} } },
  },
  'POST /v2/alarms/test': {
    id: 'testAlarms',
    summary: 'Send a test',
    description:
      'Sends an ordinary message to the alarms’ destination, even in quiet hours. PagerDuty gets a second one a minute later, which resolves the incident.',
    answers: { 200: { description: 'The message.', schema: 'TestedAlarm', example: { messageId } } },
    errors: {
      404: [['alarms_not_set', 'The account has no alarms; set them by PUT /v2/alarms.']],
    },
  },
}));
