import { ownStats } from '../parts/examples.ts';
import type { Operations } from '../parts/operation.ts';

export const stats: Operations<'stats'> = {
  'GET /v2/stats/attention': {
    id: 'getAttention',
    tag: 'Statistics',
    summary: 'Get what needs attention',
    description:
      'Hosts that are down, queues and flow-control keys that are paused, with what waits there, schedules whose last fire failed, and how many dead letters and failed runs the last day has brought. All lists are empty, and both numbers 0, where all is well.',
    variables: {},
    answers: {
      200: {
        description: 'What needs attention.',
        schema: 'Attention',
        example: {
          since: 1_767_139_200_000,
          hostsDown: [{ host: 'hooks.example.com', waiting: 128, openedAt: 1_767_225_600_000 }],
          pausedQueues: [{ name: 'mail', waiting: 12 }],
          pausedKeys: [],
          failingSchedules: [{ scheduleId: 'nightly-report', firedAt: 1_767_232_800_000 }],
          deadLetters: 6,
          failedRuns: 0,
          isWhole: true,
        },
      },
    },
  },
  'GET /v2/stats/hosts': {
    id: 'getHostTimes',
    tag: 'Statistics',
    summary: 'Get how the hosts of destinations have answered lately',
    description:
      'Counts attempts and failures by host, and the times of their answers, from the newest records of the log: 1,000 at most, callbacks and retries included.',
    variables: {},
    answers: {
      200: {
        description: 'The hosts.',
        schema: 'HostTimes',
        example: {
          attempts: 1_000,
          from: 1_767_225_600_000,
          hosts: [{ host: 'hooks.example.com', attempts: 640, failures: 12, p50: 84, p95: 910 }],
        },
      },
    },
  },
  'GET /v2/stats': {
    id: 'getStats',
    tag: 'Statistics',
    summary: 'Get the account’s usage and outcomes',
    description:
      'Hours and days begin as they do in UTC; each list has all of them, those without messages too. Any token of the account may ask: `access` tells which rights it has.\n\nWhat is used, and what is `accepted`, is counted by many processes that add up what they have counted in steps: it is right within a hundred messages of a day, or a hundredth of them. `delivered`, `failed` and `cancelled` are counted from the log, each in the hour in which it happened, and are exact but for two things: a record that AWS takes more than two minutes to store is left out, and a message that was cancelled on its way and arrived all the same counts as both. What waits, or is retried, has no outcome yet.',
    variables: {},
    answers: {
      200: {
        description: 'The statistics; of a day and an hour, here.',
        schema: 'OwnStats',
        example: ownStats,
      },
    },
  },
};
