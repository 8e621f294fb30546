export interface Usage {
  /** Messages of requests, schedules and retries, for the daily limits. */
  readonly requests: number;
  /** All messages, including callbacks, for the budget. */
  readonly messages: number;
  /** Authenticated requests of any kind. */
  readonly calls: number;
  /** Accepted webhook calls. */
  readonly hooks: number;
  /** Bytes of the bodies of requests. */
  readonly bytes: number;
}

export const noUsage: Usage = { requests: 0, messages: 0, calls: 0, hooks: 0, bytes: 0 };

export const plus = (one: Usage, other: Usage, times = 1): Usage => ({
  requests: one.requests + times * other.requests,
  messages: one.messages + times * other.messages,
  calls: one.calls + times * other.calls,
  hooks: one.hooks + times * other.hooks,
  bytes: one.bytes + times * other.bytes,
});

export const minus = (one: Usage, other: Usage): Usage => plus(one, other, -1);
