/**
 * The codes of refusals. A program decides by a refusal's code, and people read its sentence: sentences may change, codes
 * stay. A code says what the client can do, so one code stands for all sentences that ask for the same.
 *
 * Only the API's description reads the table at run time. Everything else imports its types, so that no other function has
 * the texts in its bundle. `docs/errors.md` has the same table.
 */
import { limitErrors } from './limitErrors.ts';
import type { Described } from './described.ts';

const requestErrors = {
  // The request is wrong.
  field_invalid: {
    statuses: [400],
    meaning:
      'A header, parameter, filter or field of the body has a value that is not allowed, is missing, or is given too often.',
    advice: 'Correct it: the sentence names it, and what is allowed.',
  },
  field_unknown: {
    statuses: [400],
    meaning: 'A parameter, filter or field is not known here.',
    advice: 'Leave it out, or correct its name: the sentence names those that are known.',
  },
  body_invalid: {
    statuses: [400],
    meaning:
      'The body is not JSON of the form that is wanted, is not UTF-8, or there is one where none is allowed.',
    advice: 'Correct the body, or leave it out.',
  },
  request_malformed: {
    statuses: [400],
    meaning: 'The request cannot be read: its path is not correctly percent-encoded, or it is not HTTP.',
    advice: 'Correct the request.',
  },
  cursor_invalid: {
    statuses: [400],
    meaning: 'The cursor was not handed out by this list.',
    advice: 'Begin the list again, without a cursor.',
  },
  too_many_items: {
    statuses: [400],
    meaning:
      'The request has more messages, ids or runs than one may have, or its answer would be too large.',
    advice: 'Send it in several requests.',
  },
  destination_invalid: {
    statuses: [400],
    meaning: 'The destination, a callback’s URL or an endpoint’s URL is missing, malformed or too long.',
    advice:
      'Correct it: allowed is a URL that starts with http:// or https://, the ARN of a Lambda function, or the name of a URL group.',
  },
  cron_invalid: {
    statuses: [400],
    meaning: 'The cron expression or its time zone is wrong.',
    advice: 'Correct it: the sentence names the part of it that is wrong.',
  },
  retry_delay_invalid: {
    statuses: [400],
    meaning: 'The expression for the delay of retries is wrong.',
    advice: 'Correct it: the sentence names the part of it that is wrong.',
  },
  message_of_run: {
    statuses: [400],
    meaning: 'The message belongs to a run of a workflow, and is not cancelled or published again by itself.',
    advice: 'Cancel, resume or restart the run, which the sentence names.',
  },
  wrong_state: {
    statuses: [400],
    meaning: 'What the request names is in a state in which this cannot be done.',
    advice: 'Look at its state first: the sentence says in which it can be done.',
  },
  workflow_request_invalid: {
    statuses: [400],
    meaning: 'A request of a workflow asks for what messages of workflows cannot do, or is no such request.',
    advice: 'Correct the request, or use a workflow client.',
  },
  run_ended: {
    statuses: [400],
    meaning: 'A step was submitted to a run that has ended, or that is not known.',
    advice: 'Stop: workflow clients do so by themselves.',
  },

  // The sender is not known.
  token_missing: {
    statuses: [401],
    meaning: 'The request has no token.',
    advice: 'Send the token as `Authorization: Bearer <token>`.',
  },
  token_invalid: {
    statuses: [401],
    meaning: 'The token is malformed, was never valid, or was replaced by another.',
    advice: 'Get the account’s present token, and send it exactly as it was issued.',
  },
  token_expired: {
    statuses: [401],
    meaning: 'The named token has met its end.',
    advice: 'Ask the operator of the service for a new one.',
  },
  wrong_region: {
    statuses: [401],
    meaning: 'The account is served in another region.',
    advice: 'Send the request to the region that the sentence names.',
  },
  account_inactive: {
    statuses: [401],
    meaning: 'The account was suspended or deleted.',
    advice: 'Ask the operator of the service.',
  },
  credentials_missing: {
    statuses: [401],
    meaning: 'A request to the management API has no credentials.',
    advice: 'Send them as `Authorization: Basic <base64 of username:password>`.',
  },
  credentials_invalid: {
    statuses: [401],
    meaning: 'The credentials for the management API are malformed or wrong.',
    advice: 'Send the user name and the password that the deployment’s secret has.',
  },

  // The sender or the deployment may not do this.
  token_read_only: {
    statuses: [403],
    meaning: 'The token is the read-only one, and the request changes something or shows what is redacted.',
    advice: 'Send the account’s full token.',
  },
  token_scope_exceeded: {
    statuses: [403],
    meaning: 'The named token is only for publishing, or only for other destinations.',
    advice: 'Send a token whose scope allows it.',
  },
  destination_not_allowed: {
    statuses: [403],
    meaning:
      'The destination, a callback’s URL or an endpoint’s URL is no public address, or a Lambda function that the deployment or the account does not have in its list.',
    advice: 'Use a public address, or ask the operator to allow this address or function.',
  },
  delivery_loop: {
    statuses: [403],
    meaning: 'The destination is this service itself, or the request is one of its deliveries.',
    advice: 'Send messages elsewhere: these would go in circles.',
  },
  credentials_fixed: {
    statuses: [403],
    meaning: 'The token and the signing keys are those of the development mode of a local stage.',
    advice: 'Start the stage without `--dev`, to rotate them.',
  },
  foreign_site: {
    statuses: [403],
    meaning:
      'A local stage with `--dev` was called by a page of another site, or at a name that is not of its machine.',
    advice: 'Call it from a program on the same machine, at `localhost` or 127.0.0.1.',
  },
  request_blocked: {
    statuses: [403],
    meaning: 'What the operator has put before the service, such as a firewall, refused the request.',
    advice: 'Ask the operator of the service.',
  },

  // The subject of the request is not there, or is there already.
  path_not_found: {
    statuses: [404],
    meaning: 'The path is none of the API’s.',
    advice: 'Correct the path; `GET /v2/openapi.json` lists all.',
  },
  message_not_found: {
    statuses: [404],
    meaning:
      'There is no such message: it has ended, where only one that waits will do, or it or its body is not kept any more.',
    advice: 'Look at `GET /v2/messages/{messageId}?state=ALL` for what became of it.',
  },
  dead_letter_not_found: {
    statuses: [404],
    meaning: 'The dead letter was retried, was deleted or has expired, or there never was one.',
    advice: 'Take it as done, where it was to be retried or deleted.',
  },
  url_group_not_found: {
    statuses: [404],
    meaning: 'There is no such URL group.',
    advice: 'Correct the name, or add an endpoint to the group, which creates it.',
  },
  endpoint_not_found: {
    statuses: [404],
    meaning: 'The URL group has no such endpoint.',
    advice: 'Take it as removed, or correct its name or URL.',
  },
  queue_not_found: {
    statuses: [404],
    meaning: 'There is no such queue.',
    advice: 'Create it; the first message through it does so, too.',
  },
  flow_control_key_not_found: {
    statuses: [404],
    meaning: 'No message has had this flow-control key.',
    advice: 'Correct the key, or publish a message with it.',
  },
  circuit_not_found: {
    statuses: [404],
    meaning: 'The circuit of this host is closed, and nothing waits in it.',
    advice: 'Take it as closed, or correct the host; `GET /v2/circuits` lists those that are open.',
  },
  schedule_not_found: {
    statuses: [404],
    meaning: 'There is no such schedule.',
    advice: 'Correct its id, or create it.',
  },
  run_not_found: {
    statuses: [404],
    meaning: 'The run has ended, or there never was one.',
    advice: 'Look at the log of runs for what became of it.',
  },
  webhook_not_found: {
    statuses: [404],
    meaning: 'No active run has such a webhook.',
    advice: 'Stop calling it.',
  },
  account_not_found: {
    statuses: [404],
    meaning: 'There is no such account, or it was deleted.',
    advice: 'Correct its id.',
  },
  token_not_found: {
    statuses: [404],
    meaning: 'The account has no such named token: it was revoked, or there never was one.',
    advice: 'Take it as revoked, or correct its id.',
  },
  file_not_found: {
    statuses: [404],
    meaning: 'This version of the console has no such file.',
    advice: 'Load the console’s page again.',
  },
  body_too_slow: {
    statuses: [408],
    meaning: 'The body came too slowly, on a server on one machine.',
    advice: 'Send it again, over a better connection.',
  },
  method_not_allowed: {
    statuses: [405],
    meaning: 'The path exists, but not with this method.',
    advice: 'Use one of the methods in the header `Allow`.',
  },
  completion_not_found: {
    statuses: [404],
    meaning: 'The completion URL is none that this deployment has made.',
    advice: 'Use the value of the header `Svc-Complete-Url` as the delivery had it.',
  },
  completion_not_awaited: {
    statuses: [409],
    meaning: 'The message waits for no completion.',
    advice: 'Complete it once its destination has answered 202, and publish it with `Svc-Deferred`.',
  },
  completion_too_late: {
    statuses: [410],
    meaning:
      'The attempt has ended in another way: its time was over, its message was cancelled, or it had another answer.',
    advice: 'Stop: a retry of the message has a completion URL of its own.',
  },
  account_exists: {
    statuses: [409],
    meaning: 'There is an account of this id already.',
    advice: 'Change that account, or choose another id.',
  },
} as const satisfies Record<string, Described>;

export const errorCodes = { ...requestErrors, ...limitErrors };

type Table = typeof errorCodes;

export type ErrorCode = keyof Table;

type StatusOf<Code extends ErrorCode> = Table[Code]['statuses'][number];

/** The statuses of refusals. */
export type ErrorStatus = StatusOf<ErrorCode>;

/** The codes that come with a status. */
export type CodeOf<Status extends ErrorStatus> = {
  [Code in ErrorCode]: Status extends StatusOf<Code> ? Code : never;
}[ErrorCode];

/** A status with one of its codes. */
export type Reason = {
  [Status in ErrorStatus]: readonly [status: Status, code: CodeOf<Status>];
}[ErrorStatus];
