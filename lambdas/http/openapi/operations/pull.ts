import { made } from '../../../options/option.ts';
import type { RouteTable } from '../../route.ts';
import { messageId, start } from '../parts/examples.ts';
import type { Operations } from '../parts/operation.ts';

export const pullRoutes = {
  'POST /v2/pull/{name}': { access: 'write', publishes: true },
  // Without a token, because the client has the token of the attempt.
  'POST /v2/extend/{completion}': { access: 'open' },
} as const satisfies RouteTable;

export const pull = /* @__PURE__ */ made((): Operations<typeof pullRoutes> => ({
  'POST /v2/pull/{name}': {
    id: 'pullMessages',
    summary: 'Take messages whose destination is `pull:<name>`',
    description:
      'Takes messages that wait for a client, those that were offered first, and waits for the first one if there is none. Each comes with the request that would have been sent. Complete it with `POST /v2/complete/{completion}`, which is the answer to its attempt; without a completion in time the attempt fails and is retried. Several clients with one name share its messages. A named token for publishing needs `pull:<name>` in its destinations.',
    body: { required: false, schema: 'Pulling', example: { count: 10, wait: '20s', within: '5m' } },
    answers: {
      200: {
        description: 'The messages, none if none came in time.',
        schema: 'Pulled',
        example: {
          messages: [
            {
              messageId,
              retried: 0,
              method: 'POST',
              headers: { 'Content-Type': ['application/json'] },
              body: '{"order":4711}',
              completion: 'WyJmMmMwIl0.7Qm1',
              completionDeadline: start,
            },
          ],
        },
      },
    },
    errors: {
      400: [
        [
          'destination_invalid',
          'The name is "pull:a b"; allowed is pull:<name> with a name of 1 to 100 letters, digits, ".", "_" and "-".',
        ],
        ['field_invalid', 'wait is "1m"; allowed is 0s to 20s.'],
        ['body_invalid', 'The body is not JSON.'],
      ],
      403: [
        ['token_scope_exceeded', 'The token is only for publishing; this operation requires another token.'],
      ],
    },
  },
  'POST /v2/extend/{completion}': {
    id: 'extendAttempt',
    summary: 'Give an open attempt more time',
    description:
      'Sets the end of an attempt that a client took, or that its destination answered with 202: the given time from now. `completion` is that of the taken message, or the last part of its `Svc-Complete-Url`.',
    body: { required: true, schema: 'Extension', example: { within: '5m' } },
    answers: {
      200: {
        description: 'It has the time.',
        schema: 'Extended',
        example: { messageId, completionDeadline: start },
      },
    },
    errors: {
      400: [
        ['field_invalid', 'within is "8d"; allowed is 1s to 7d.'],
        ['body_invalid', 'The body is not JSON.'],
      ],
      404: [['completion_not_found', 'There is no attempt with this completion URL.']],
      410: [
        [
          'completion_too_late',
          `The completion of the message "${messageId}" is too late: it was cancelled.`,
        ],
      ],
    },
  },
}));
