/**
 * The codes of refusals. Programs use the codes, and people read the sentences. Sentences may change, codes
 * do not. Sentences with the same advice share a code.
 *
 * Only the API's description uses the table at run time, so other bundles do not contain its texts.
 * `docs/errors.md` has a heading for each code.
 */
import { limitErrors } from './limitErrors.ts';
import type { Described } from './described.ts';

const requestErrors = {
  field_invalid: {
    statuses: [400],
    meaning:
      'A header, parameter, filter or field of the body is missing, is given too often, or has a value that is not allowed.',
    advice: 'Correct it: the sentence names the field and the values that are allowed.',
  },
  field_unknown: {
    statuses: [400],
    meaning: 'The request has a parameter, filter or field that is not known here.',
    advice: 'Correct its name or leave it out: the sentence lists the known ones.',
  },
  body_invalid: {
    statuses: [400],
    meaning: 'The body is not UTF-8, is not JSON of the expected form, or is not allowed here.',
    advice: 'Correct the body, or leave it out.',
  },
  request_malformed: {
    statuses: [400],
    meaning: 'The request is not valid HTTP, or its path is not correctly percent-encoded.',
    advice: 'Percent-encode each part of the path once: a `%` itself is `%25`.',
  },
  cursor_invalid: {
    statuses: [400],
    meaning: 'The cursor does not come from this list.',
    advice: 'Read the list again from the beginning, without a cursor.',
  },
  too_many_items: {
    statuses: [400],
    meaning:
      'The request has more messages, ids or runs than one request may have, or its answer would be too large.',
    advice: 'Split it into several requests.',
  },
  destination_invalid: {
    statuses: [400],
    meaning: 'The destination, or the URL of a callback or an endpoint, is missing, malformed or too long.',
    advice:
      'Use a URL that starts with http:// or https://, the ARN of a function, queue, topic or bus in AWS, `pull:<name>`, or the name of a URL group.',
  },
  cron_invalid: {
    statuses: [400],
    meaning: 'The cron expression or its time zone is not valid.',
    advice:
      'Correct the part that the sentence names. An expression has five fields, after `CRON_TZ=<zone>` if it is not in UTC.',
  },
  retry_delay_invalid: {
    statuses: [400],
    meaning: 'The expression for the retry delay is not valid.',
    advice:
      'Correct the part that the sentence names. The result is in milliseconds, and `retried` is 0 for the first retry.',
  },
  message_of_run: {
    statuses: [400],
    meaning:
      'The message belongs to a run of a workflow, and cannot be cancelled or published again on its own.',
    advice: 'Cancel, resume or restart the run that the sentence names.',
  },
  wrong_state: {
    statuses: [400],
    meaning: 'The resource that the request names is in a state that does not allow this.',
    advice: 'Read its state first: the sentence says which states allow it.',
  },
  workflow_request_invalid: {
    statuses: [400],
    meaning:
      'A workflow’s request asks for something that messages of workflows cannot do, or it is not a workflow’s request.',
    advice: 'Correct the request, or use a workflow client.',
  },
  run_ended: {
    statuses: [400],
    meaning: 'A step was submitted to a run that has ended or is not known.',
    advice: 'Stop, as workflow clients do by themselves. The log of runs shows how the run ended.',
  },

  // The sender is unknown.
  token_missing: {
    statuses: [401],
    meaning: 'The request has no token.',
    advice: 'Send the token as `Authorization: Bearer <token>`.',
  },
  token_invalid: {
    statuses: [401],
    meaning: 'The token is malformed, was never valid, or was replaced or revoked.',
    advice: 'Get the account’s current token, and send it exactly as it was issued.',
  },
  token_expired: {
    statuses: [401],
    meaning: 'The named token has expired.',
    advice:
      'Create another with the account’s full token, by `POST /v2/tokens`. If you do not have that token, ask the owner of the account.',
  },
  wrong_region: {
    statuses: [401],
    meaning: 'The account belongs to another region.',
    advice: 'Send the request to the region that the sentence names.',
  },
  account_inactive: {
    statuses: [401],
    meaning: 'The account was suspended or deleted.',
    advice:
      'Ask the operator of the service, who can resume a suspended account, and restore a deleted one for seven days.',
  },
  credentials_missing: {
    statuses: [401],
    meaning: 'The request to the management API has no credentials.',
    advice: 'Send them as `Authorization: Basic <base64 of username:password>`.',
  },
  credentials_invalid: {
    statuses: [401],
    meaning: 'The credentials for the management API are malformed or wrong.',
    advice: 'Send those that `svc-queue password` prints, or `.svc/env` of a local stage.',
  },

  // The sender or the deployment may not do this.
  token_read_only: {
    statuses: [403],
    meaning: 'The token is read-only, and the request changes something or shows redacted values.',
    advice: 'Send the account’s full token, or a named token with the scope `full`.',
  },
  token_scope_exceeded: {
    statuses: [403],
    meaning: 'The named token may only publish, or may only use other destinations.',
    advice: 'Send another token: `GET /v2/tokens` shows what each may do.',
  },
  destination_not_allowed: {
    statuses: [403],
    meaning:
      'The destination, or the URL of a callback or an endpoint, is not a public address, or is the ARN of something in AWS that the deployment and the account do not both allow.',
    advice: 'Use a public address, or ask the operator to allow this address or ARN.',
  },
  delivery_loop: {
    statuses: [403],
    meaning: 'The destination is this service itself, or the request is a delivery of this service.',
    advice: 'Send the message elsewhere: it would circulate without end.',
  },
  credentials_fixed: {
    statuses: [403],
    meaning: 'The token and the signing keys are fixed in the development mode of a local stage.',
    advice: 'Start the stage without `--dev` to rotate them.',
  },
  foreign_site: {
    statuses: [403],
    meaning:
      'A page of another site called a local stage with `--dev`, or the stage was called by a name that is not its machine’s.',
    advice: 'Call it from a program on the same machine, at `localhost` or 127.0.0.1.',
  },
  request_blocked: {
    statuses: [403],
    meaning:
      'A firewall, or something else that the operator has put in front of the service, refused the request.',
    advice:
      'Ask the operator of the service, and name the time of the request and the address that it came from.',
  },

  // The subject of the request does not exist, or exists already.
  path_not_found: {
    statuses: [404],
    meaning: 'The API has no such path.',
    advice: 'Correct the path; `GET /v2/openapi.json` lists all paths.',
  },
  message_not_found: {
    statuses: [404],
    meaning: 'There is no such message, it has already ended, or it or its body is no longer kept.',
    advice: 'Read `GET /v2/messages/{messageId}?state=ALL` to see its outcome.',
  },
  dead_letter_not_found: {
    statuses: [404],
    meaning: 'The dead letter was retried or deleted, has expired, or never existed.',
    advice: 'If you wanted to retry or delete it, treat it as done.',
  },
  bulk_not_found: {
    statuses: [404],
    meaning: 'The bulk operation ended more than 30 days ago, or never existed.',
    advice: 'Correct the id: `GET /v2/bulk` lists the latest.',
  },
  url_group_not_found: {
    statuses: [404],
    meaning: 'There is no such URL group.',
    advice: 'Correct the name, or add an endpoint to the group, which creates it.',
  },
  endpoint_not_found: {
    statuses: [404],
    meaning: 'The URL group has no such endpoint.',
    advice: 'Treat it as removed, or correct its name or URL.',
  },
  queue_not_found: {
    statuses: [404],
    meaning: 'There is no such queue.',
    advice: 'Create it, or send a message through it, which creates it as well.',
  },
  flow_control_key_not_found: {
    statuses: [404],
    meaning: 'No message has used this flow-control key.',
    advice: 'Correct the key: `GET /v2/flowControl` lists those in use. A message with it creates it.',
  },
  hold_not_found: {
    statuses: [404],
    meaning: 'Deliveries of this host, label, URL group or account are not held.',
    advice: 'Treat it as released, or correct the name; `GET /v2/holds` lists the holds.',
  },
  circuit_not_found: {
    statuses: [404],
    meaning: 'The circuit of this host is closed and holds nothing back.',
    advice: 'Treat it as closed, or correct the host; `GET /v2/circuits` lists the open ones.',
  },
  schedule_not_found: {
    statuses: [404],
    meaning: 'There is no such schedule.',
    advice: 'Correct its id: `GET /v2/schedules` lists all. Otherwise create it.',
  },
  run_not_found: {
    statuses: [404],
    meaning: 'The run has ended or never existed.',
    advice: 'Read `GET /v2/workflows/logs`, which shows the outcome of each run.',
  },
  webhook_not_found: {
    statuses: [404],
    meaning: 'No active run has this webhook.',
    advice: 'Stop calling it: the run that waited for it has ended.',
  },
  account_not_found: {
    statuses: [404],
    meaning: 'There is no such account, or it was deleted.',
    advice:
      'Correct its id: `svc-queue accounts list` prints all. A deleted one can be restored for seven days.',
  },
  token_not_found: {
    statuses: [404],
    meaning: 'The account has no such named token: it was revoked or never existed.',
    advice: 'Treat it as revoked, or correct its id: `GET /v2/tokens` lists all.',
  },
  alarms_not_set: {
    statuses: [404],
    meaning: 'The account has no alarms.',
    advice: 'Set them by `PUT /v2/alarms`, or on the console’s screen Alarms.',
  },
  file_not_found: {
    statuses: [404],
    meaning: 'This version of the console has no such file.',
    advice: 'Reload the console, which loads the files of the present version.',
  },
  body_too_slow: {
    statuses: [408],
    meaning: 'The body arrived too slowly, on a server on one machine.',
    advice: 'Send it again over a faster connection.',
  },
  method_not_allowed: {
    statuses: [405],
    meaning: 'The path exists, but not with this method.',
    advice: 'Use one of the methods in the header `Allow`.',
  },
  completion_not_found: {
    statuses: [404],
    meaning: 'This deployment did not make the completion URL.',
    advice: 'Use the value of the header `Svc-Complete-Url` exactly as the delivery had it.',
  },
  attempt_due: {
    statuses: [409],
    meaning: 'The message cannot be changed now: an attempt is under way or about to begin.',
    advice: 'Cancel the message and publish it again, or let it be delivered as it is.',
  },
  completion_not_awaited: {
    statuses: [409],
    meaning: 'The message is not waiting for a completion.',
    advice: 'Publish it with `Svc-Deferred`, and complete it after its destination has answered 202.',
  },
  completion_too_late: {
    statuses: [410],
    meaning:
      'The attempt has already ended: it timed out, its message was cancelled, or it got another answer.',
    advice: 'Stop. A retry of the message has another completion URL.',
  },
  account_exists: {
    statuses: [409],
    meaning: 'An account with this id already exists, or existed and was deleted.',
    advice: 'Change or restore that account, or choose another id.',
  },
} as const satisfies Record<string, Described>;

export const errorCodes = { ...requestErrors, ...limitErrors };

type Table = typeof errorCodes;

export type ErrorCode = keyof Table;

type StatusOf<Code extends ErrorCode> = Table[Code]['statuses'][number];

export type ErrorStatus = StatusOf<ErrorCode>;

export type CodeOf<Status extends ErrorStatus> = {
  [Code in ErrorCode]: Status extends StatusOf<Code> ? Code : never;
}[ErrorCode];

export type Reason = {
  [Status in ErrorStatus]: readonly [status: Status, code: CodeOf<Status>];
}[ErrorStatus];
