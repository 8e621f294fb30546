/** The codes of refusals that are about limits and failures: see `errorCodes.ts`. */
import type { Described } from './described.ts';

export const limitErrors = {
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
  token_limit_reached: {
    statuses: [412],
    meaning: 'The account has as many named tokens as it may.',
    advice: 'Revoke one.',
  },
  budget_reached: {
    statuses: [412],
    meaning: 'The account’s `budget` of this month is used up.',
    advice: 'Send it next month, or have the budget raised.',
  },
  submission_refused: {
    statuses: [412],
    meaning: 'What a workflow’s endpoint, or a notification of its run, submitted can never be accepted.',
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

  // The service itself failed.
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
