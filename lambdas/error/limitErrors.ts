/** The codes of refusals about limits and failures: see `errorCodes.ts`. */
import type { Described } from './described.ts';

export const limitErrors = {
  retries_over_limit: {
    statuses: [412],
    meaning: 'The request asks for more retries than the account’s `max_retries`.',
    advice: 'Ask for fewer, or ask the operator to raise the limit.',
  },
  delay_over_limit: {
    statuses: [412],
    meaning: 'The request asks for a longer delay, sleep or wait than the account’s `max_delay`.',
    advice: 'Ask for a shorter one, or ask the operator to raise the limit.',
  },
  parallelism_over_limit: {
    statuses: [412],
    meaning: 'The request asks for more parallelism than the account’s `max_parallelism`.',
    advice: 'Ask for less, or ask the operator to raise the limit.',
  },
  queue_limit_reached: {
    statuses: [412],
    meaning: 'The account already has as many queues as its `max_queues` allows.',
    advice: 'Delete one, or ask the operator to raise the limit.',
  },
  hold_limit_reached: {
    statuses: [412],
    meaning:
      'The account already has as many holds as it may have, including those that ended within the last day.',
    advice:
      'Release one for which no message waits, which stops counting at once, or hold the whole account.',
  },
  url_group_limit_reached: {
    statuses: [412],
    meaning: 'The account already has as many URL groups as its `max_topics` allows.',
    advice: 'Delete one, or ask the operator to raise the limit.',
  },
  endpoint_limit_reached: {
    statuses: [412],
    meaning: 'The URL group would have more endpoints than the account’s `max_endpoints_per_topic` allows.',
    advice: 'Remove some, or ask the operator to raise the limit.',
  },
  schedule_limit_reached: {
    statuses: [412],
    meaning: 'The account already has as many schedules as its `max_schedules` allows.',
    advice: 'Delete one, or ask the operator to raise the limit.',
  },
  token_limit_reached: {
    statuses: [412],
    meaning: 'The account already has as many named tokens as it may have.',
    advice: 'Revoke one that is no longer used: `GET /v2/tokens` has the last day on which each was used.',
  },
  budget_reached: {
    statuses: [412],
    meaning: 'The account’s `budget` for this month is used up.',
    advice: 'Wait until next month, or ask the operator to raise the budget.',
  },
  submission_refused: {
    statuses: [412],
    meaning:
      'A workflow’s endpoint, or a notification of its run, submitted something that can never be accepted.',
    advice:
      'Correct it. A refused step fails its run, with the sentence as its error; a refused notification changes nothing.',
  },

  // Something is too large, or there is too much at the moment.
  body_too_large: {
    statuses: [413],
    meaning: 'The body is larger than the account’s `max_message_size`, or than any request may be.',
    advice: 'Send less, or send a link to the data.',
  },
  answer_too_large: {
    statuses: [413],
    meaning: 'The entries of the run are too large for one answer.',
    advice: 'Do not ask again: the entries do not get smaller. `GET /v2/workflows/logs` shows the steps.',
  },
  head_too_large: {
    statuses: [431],
    meaning: 'The path, the query and the headers together are larger than any request may have.',
    advice: 'Send the message in a batch, where all of these are in the body.',
  },
  rate_limit_reached: {
    statuses: [429],
    meaning: 'The account has reached its `max_requests_per_second`.',
    advice: 'Send it again after the seconds in `Retry-After`.',
  },
  bandwidth_limit_reached: {
    statuses: [429],
    meaning: 'The account has reached its `max_bandwidth_per_second`.',
    advice: 'Send it again after the seconds in `Retry-After`.',
  },
  scan_limit_reached: {
    statuses: [429],
    meaning:
      'The account already has the maximum number of large reads under way, each of which looks at thousands of entries.',
    advice: 'Send it again when another read has ended, or narrow it with `fromDate` and `toDate`.',
  },
  bulk_limit_reached: {
    statuses: [429],
    meaning: 'The account already has the maximum number of bulk operations in the background.',
    advice: 'Send it again when another has ended, or stop one: `GET /v2/bulk` lists them.',
  },
  webhook_full: {
    statuses: [429],
    meaning:
      'The run is not waiting for a call of this webhook, and already keeps the maximum number of calls.',
    advice: 'Call it again a minute later. The run takes the calls that it keeps one by one.',
  },
  daily_limit_reached: {
    statuses: [429],
    meaning: 'The account has reached its `max_requests_per_day_hard`.',
    advice:
      'Send it again after the seconds in `Retry-After`, when the next day has begun, or ask the operator to raise the limit.',
  },
  login_limit_reached: {
    statuses: [429],
    meaning: 'This address has sent too many wrong credentials for the management API.',
    advice: 'Try again after the seconds in `Retry-After`.',
  },
  service_throttled: {
    statuses: [429],
    meaning:
      'The service gets more requests from all accounts together than it accepts at once, or its firewall more from one address.',
    advice: 'Send it again after the seconds in `Retry-After`, and send less often.',
  },

  // The service itself failed.
  service_failed: {
    statuses: [500, 502, 503],
    meaning: 'The service failed. The request may have taken effect nevertheless.',
    advice: 'Send it again if that does no harm, and tell the operator if it keeps failing.',
  },
  service_timeout: {
    statuses: [503, 504],
    meaning: 'The service did not answer in time. The request may still take effect.',
    advice: 'Send it again if that does no harm, after the seconds in `Retry-After` if it has one.',
  },
  not_stored: {
    statuses: [503],
    meaning: 'The message, dead letter or run could not be stored or sent. Nothing was changed.',
    advice: 'Send it again a moment later.',
  },
  busy: {
    statuses: [503],
    meaning: 'Other requests kept changing the same thing. Nothing was changed.',
    advice: 'Send it again a moment later.',
  },
  region_draining: {
    statuses: [503],
    meaning:
      'The region is being emptied, and takes no new messages, schedules or runs. Nothing was changed.',
    advice: 'Send it to the region that the operator names. Earlier messages are still delivered.',
  },
  region_unreachable: {
    statuses: [503],
    meaning: 'The request requires another region, which does not answer.',
    advice: 'Send it again when that region answers.',
  },
  service_paused: {
    statuses: [503],
    meaning: 'The service was started with `--paused`, and only answers reads. Nothing was changed.',
    advice: 'Send it to the service that is at work.',
  },
  time_over: {
    statuses: [503],
    meaning: 'The request ran out of time before all was done. Completed changes stay.',
    advice: 'Send it again for the rest, or send a smaller request, as the sentence says.',
  },
} as const satisfies Record<string, Described>;
