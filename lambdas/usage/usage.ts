/** An account's use, of a day or of a part of it. */
export interface Usage {
  /** Messages that requests, schedules and retries made: the daily limits count these. */
  readonly requests: number;
  /** All messages, callbacks included: the budget counts these. */
  readonly messages: number;
  /** Requests to the API with a token, of every kind. */
  readonly calls: number;
  /** Calls of webhooks that were accepted. */
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
