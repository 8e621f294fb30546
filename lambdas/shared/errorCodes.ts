/**
 * The codes of refusals. A program decides by a refusal's code, and people read its sentence: sentences may change, codes
 * stay. A code says what the client can do, so one code stands for all sentences that ask for the same.
 *
 * Only the API's description reads the table at run time. Everything else imports its types, so that no other function has
 * the texts in its bundle. `docs/errors.md` has the same table.
 */
interface Described {
  /** The statuses that it comes with. */
  readonly statuses: readonly [number, ...number[]];
  /** What was refused, and why. */
  readonly meaning: string;
  /** What the client can do. */
  readonly advice: string;
}

export const errorCodes = {
  // What is sent is wrong.
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
    advice: 'Correct it: allowed is a URL that starts with http:// or https://, or the name of a URL group.',
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

  // Who sends it.
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

  // What the sender or the deployment may not.
  token_read_only: {
    statuses: [403],
    meaning: 'The token is the read-only one, and the request changes something or shows what is redacted.',
    advice: 'Send the account’s full token.',
  },
  destination_not_allowed: {
    statuses: [403],
    meaning: 'The destination, a callback’s URL or an endpoint’s URL is no public address.',
    advice: 'Use a public address, or ask the operator to allow this one.',
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

  // What is not there, or is there already.
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
  file_not_found: {
    statuses: [404],
    meaning: 'This version of the console has no such file.',
    advice: 'Load the console’s page again.',
  },
  method_not_allowed: {
    statuses: [405],
    meaning: 'The path exists, but not with this method.',
    advice: 'Use one of the methods in the header `Allow`.',
  },
  account_exists: {
    statuses: [409],
    meaning: 'There is an account of this id already.',
    advice: 'Change that account, or choose another id.',
  },

  // Limits of the account.
  retries_over_limit: {
    statuses: [412],
    meaning: 'More retries are asked for than the account’s `max_retries`.',
    advice: 'Ask for fewer, or have the limit raised.',
  },
  delay_over_limit: {
    statuses: [412],
    meaning: 'A longer delay, sleep or wait is asked for than the account’s `max_delay`.',
    advice: 'Ask for a shorter one, or have the limit raised.',
  },
  parallelism_over_limit: {
    statuses: [412],
    meaning: 'More parallelism is asked for than the account’s `max_parallelism`.',
    advice: 'Ask for less, or have the limit raised.',
  },
  queue_limit_reached: {
    statuses: [412],
    meaning: 'The account has as many queues as its `max_queues`.',
    advice: 'Delete one, or have the limit raised.',
  },
  url_group_limit_reached: {
    statuses: [412],
    meaning: 'The account has as many URL groups as its `max_topics`.',
    advice: 'Delete one, or have the limit raised.',
  },
  endpoint_limit_reached: {
    statuses: [412],
    meaning: 'The URL group would have more endpoints than the account’s `max_endpoints_per_topic`.',
    advice: 'Remove some, or have the limit raised.',
  },
  schedule_limit_reached: {
    statuses: [412],
    meaning: 'The account has as many schedules as its `max_schedules`.',
    advice: 'Delete one, or have the limit raised.',
  },
  budget_reached: {
    statuses: [412],
    meaning: 'The account’s `budget` of this month is used up.',
    advice: 'Send it next month, or have the budget raised.',
  },
  submission_refused: {
    statuses: [412],
    meaning: 'What a workflow’s endpoint, or whoever notifies its run, submitted can never be accepted.',
    advice:
      'Correct it. A step that is refused fails its run, with the sentence as its error; a notification that is refused changes nothing.',
  },

  // Too large, or too much for now.
  body_too_large: {
    statuses: [413],
    meaning: 'The body is larger than the account’s `max_message_size`, or than any request may be.',
    advice: 'Send less, or a link to what is large.',
  },
  answer_too_large: {
    statuses: [413],
    meaning: 'The entries of the run are too large for one answer.',
    advice: 'Do not ask again, because it does not get smaller. `GET /v2/workflows/logs` shows its steps.',
  },
  head_too_large: {
    statuses: [431],
    meaning: 'The path, the query and the headers together are larger than any request may have.',
    advice: 'Send the message in a batch, where they stand in the body.',
  },
  rate_limit_reached: {
    statuses: [429],
    meaning: 'The account’s `max_requests_per_second` is reached.',
    advice: 'Send it again after the seconds in `Retry-After`.',
  },
  bandwidth_limit_reached: {
    statuses: [429],
    meaning: 'The account’s `max_bandwidth_per_second` is reached.',
    advice: 'Send it again after the seconds in `Retry-After`.',
  },
  scan_limit_reached: {
    statuses: [429],
    meaning:
      'The account has as many requests under way that look at thousands of entries as it may at one time.',
    advice: 'Send it again when another has ended, or narrow it by `fromDate` and `toDate`.',
  },
  webhook_full: {
    statuses: [429],
    meaning: 'The run keeps as many calls of the webhook as it may until it waits for them.',
    advice: 'Call it again later.',
  },
  daily_limit_reached: {
    statuses: [429],
    meaning: 'The account’s `max_requests_per_day_hard` is reached.',
    advice: 'Send it after `Retry-After`, when the next day has begun, or have the limit raised.',
  },
  login_limit_reached: {
    statuses: [429],
    meaning: 'Too many wrong credentials for the management API came from this address.',
    advice: 'Try again after the seconds in `Retry-After`.',
  },
  service_throttled: {
    statuses: [429],
    meaning: 'The service gets more requests, from all accounts together, than it may take at once.',
    advice: 'Send it again after a second, and less often.',
  },

  // It failed at the service.
  service_failed: {
    statuses: [500, 502, 503],
    meaning: 'The service failed. The request may have taken effect all the same.',
    advice: 'Send it again if that does no harm, and tell the operator if it stays so.',
  },
  service_timeout: {
    statuses: [504],
    meaning: 'The service did not answer in time. The request may take effect all the same.',
    advice: 'Send it again if that does no harm.',
  },
  not_stored: {
    statuses: [503],
    meaning: 'The message, dead letter or run could not be stored or sent. Nothing was changed.',
    advice: 'Send it again.',
  },
  busy: {
    statuses: [503],
    meaning: 'Others were changing the same thing all the time. Nothing was changed.',
    advice: 'Send it again a moment later.',
  },
  region_draining: {
    statuses: [503],
    meaning:
      'The region is being emptied, and takes no new messages, schedules and runs. Nothing was changed.',
    advice: 'Send it to the region that the operator names; what was accepted before is still delivered.',
  },
  region_unreachable: {
    statuses: [503],
    meaning: 'Another region, which has to know of it, does not answer.',
    advice: 'Send it again when that region answers.',
  },
  time_over: {
    statuses: [503],
    meaning: 'The time of a request was over before all was done. What was done stays.',
    advice: 'Send it again for the rest, or ask for less, as the sentence says.',
  },
} as const satisfies Record<string, Described>;

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
