import type { PerLimit } from '../value/limits.ts';

/** Texts about limits for the API's description. Not in the table of limits, which every function bundles. */
export const limitMeanings: PerLimit<string> = {
  timeout: 'Seconds that a destination may take to answer.',
  max_message_size: 'Bytes.',
  max_retries: 'How often a failed delivery may be retried.',
  max_delay: 'Seconds.',
  max_requests_per_day: 'Messages a day, UTC, from which on answers carry a warning.',
  max_requests_per_day_hard: 'Messages a day, UTC, from which on they are refused.',
  max_requests_per_second: 'Requests to the API.',
  max_bandwidth_per_second: 'Bytes of requests’ bodies.',
  max_dlq_size: 'Entries of the dead letter queue.',
  max_dlq_retention_time_milis: 'Milliseconds that dead letters are kept.',
  log_retention_days: 'Days that the log is kept, from the end of each message.',
  max_topics: 'URL groups.',
  max_endpoints_per_topic: 'Endpoints of one URL group.',
  max_schedules: 'Schedules.',
  max_events_size: 'Bytes of a failed attempt’s response that its event keeps.',
  max_delivered_answer_size:
    'Bytes of a successful answer that its event keeps, up to `max_events_size`; with 0, only the status.',
  max_parallelism: 'Deliveries in flight at once that a flow-control key or a queue may ask for.',
  max_global_parallelism: 'Deliveries in flight at once.',
  max_queues: 'Queues.',
};
