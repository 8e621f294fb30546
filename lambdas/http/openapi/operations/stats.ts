import { ownStats } from '../parts/examples.ts';
import type { Operations } from '../parts/operation.ts';

export const stats: Operations<'stats'> = {
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
