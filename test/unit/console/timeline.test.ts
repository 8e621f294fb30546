import { expect, it } from 'vitest';
import { happeningsOf, type LogEntry } from '../../../console/src/screens/messages/timeline.ts';

const entry = (state: LogEntry['state'], time: number, more: Partial<LogEntry> = {}): LogEntry => ({
  messageId: 'msg_01M7W4BM2WG14BG3V1YN3YTREK',
  url: 'https://example.com/',
  method: 'POST',
  callerIP: '127.0.0.1',
  callerIp: '127.0.0.1',
  createdAt: 0,
  state,
  time,
  ...more,
});

it('The entries of an attempt are one event, with its answer and its duration', () => {
  const error = entry('ERROR', 1_300, { retried: 0, responseStatus: 503 });
  const happenings = happeningsOf([
    entry('DELIVERED', 9_050, { retried: 1, responseStatus: 200 }),
    entry('ACTIVE', 9_000, { retried: 1 }),
    entry('RETRY', 1_300, { retried: 0, nextDeliveryTime: 9_000 }),
    error,
    entry('ACTIVE', 1_000, { retried: 0 }),
    entry('CREATED', 900),
  ]);
  expect(happenings.map(({ at, tookMs, last }) => [last.state, at, tookMs])).toEqual([
    ['DELIVERED', 9_000, 50],
    ['RETRY', 1_000, 300],
    ['CREATED', 900, undefined],
  ]);
  expect(happenings.map(({ failure }) => failure)).toEqual([undefined, error, undefined]);
});

it('An attempt whose start is on the next page has no duration yet', () => {
  const [attempt] = happeningsOf([entry('FAILED', 2_000, { retried: 3 })]);
  expect(attempt).toMatchObject({ at: 2_000, tookMs: undefined });
});

it('A cancellation is shown separately beside the attempt in flight', () => {
  const states = happeningsOf([
    entry('ERROR', 1_500, { retried: 0, responseStatus: 0 }),
    entry('ACTIVE', 1_000, { retried: 0 }),
    entry('CANCELED', 1_200),
    entry('CANCEL_REQUESTED', 1_200),
  ]).map(({ last }) => last.state);
  expect(states).toEqual(['ERROR', 'CANCELED', 'CANCEL_REQUESTED']);
});
