import { describe, expect, it } from 'vitest';
import { HttpError } from '../../../lambdas/error/httpError.ts';
import { parseFlowControl } from '../../../lambdas/value/flowControl.ts';

const fields = { key: 'Svc-Flow-Control-Key', value: 'Svc-Flow-Control-Value' };

type Refused = [key: string | undefined, value: string | undefined, says: string];

describe('flow control', () => {
  it.each([
    ['parallelism=1', { parallelism: 1 }],
    ['rate=5', { rate: 5, period: 1 }],
    ['rate=5,period=2', { rate: 5, period: 2 }],
    ['rate=5,period=1', { rate: 5, period: 1 }],
    ['RATE = 5 , Period = 1h30m', { rate: 5, period: 5_400 }],
    ['parallelism=2,rate=3,period=1d', { parallelism: 2, rate: 3, period: 86_400 }],
    ['ratePerSecond=4', { rate: 4, period: 1 }],
    ['parallelism=1000000000', { parallelism: 1_000_000_000 }],
    ['rate=1,period=7d', { rate: 1, period: 604_800 }],
    ['rate=1,period=604800', { rate: 1, period: 604_800 }],
  ])('is read: %s', (value, settings) => {
    expect(parseFlowControl(fields, 'key', value)).toEqual({ key: 'key', ...settings });
  });

  it('has a key of up to 256 characters', () => {
    const key = 'x'.repeat(256);
    expect(parseFlowControl(fields, key, 'parallelism=1')?.key).toBe(key);
  });

  it('is missing if neither header is given', () => {
    expect(parseFlowControl(fields, undefined, undefined)).toBeUndefined();
  });

  it.each<Refused>([
    ['', 'rate=1', 'Svc-Flow-Control-Key is ""'],
    ['x'.repeat(257), 'rate=1', 'Svc-Flow-Control-Key is'],
    // SQS and DynamoDB refuse half characters and these two, and the key is in the job of a waiting attempt.
    ['half \ud83d', 'rate=1', 'Svc-Flow-Control-Key is'],
    ['not \ufffe', 'rate=1', 'Svc-Flow-Control-Key is'],
    ['not \uffff', 'rate=1', 'Svc-Flow-Control-Key is'],
    [undefined, 'rate=1', 'Svc-Flow-Control-Value is given without Svc-Flow-Control-Key.'],
    ['key', undefined, 'Svc-Flow-Control-Key is given without Svc-Flow-Control-Value; allowed is'],
    ['key', '', 'Svc-Flow-Control-Value is ""'],
    ['key', 'rate=1,rate=', 'Svc-Flow-Control-Value is "rate=1,rate="; allowed is parallelism=<n>, rate=<n>'],
    ['key', 'rate=1;period=1', 'Svc-Flow-Control-Value is'],
    ...['0', '-1', '1.5', '1e3', 'many', '1000000001', '9'.repeat(40)].flatMap((count): Refused[] => [
      [
        'key',
        `rate=${count}`,
        `The rate of Svc-Flow-Control-Value is "${count}"; allowed is a whole number from 1 to 1000000000.`,
      ],
      [
        'key',
        `parallelism=${count}`,
        `The parallelism of Svc-Flow-Control-Value is "${count}"; allowed is a whole number`,
      ],
    ]),
    [
      'key',
      'ratePerSecond=0',
      'The ratePerSecond of Svc-Flow-Control-Value is "0"; allowed is a whole number',
    ],
    ...['0', '0s', '8d', '604801', '6d24h1s'].map((period): Refused => [
      'key',
      `rate=1,period=${period}`,
      `The period of Svc-Flow-Control-Value is "${period}"; allowed is 1 second to 604800 seconds, a week.`,
    ]),
    ...['soon', '1x', '-1', '1.5'].map((period): Refused => [
      'key',
      `rate=1,period=${period}`,
      `The period of Svc-Flow-Control-Value is "${period}"; allowed is a whole number and a unit`,
    ]),
    ['key', 'rate=1,rate=1', 'Svc-Flow-Control-Value is'],
    ['key', 'rate=1,Rate=1', 'Svc-Flow-Control-Value is'],
    ['key', 'rate=1,ratePerSecond=2', 'Svc-Flow-Control-Value is'],
    ['key', 'my rate=1', 'Svc-Flow-Control-Value is'],
    ['key', 'rate=1 a second', 'Svc-Flow-Control-Value is'],
    ['key', 'period=1', 'Svc-Flow-Control-Value is'],
    ['key', 'constructor=1,rate=1', 'Svc-Flow-Control-Value is'],
  ])('with the key %j and the value %j is refused', (key, value, says) => {
    const read = () => parseFlowControl(fields, key, value);
    expect(read).toThrow(says);
    expect(read).toThrow(HttpError);
  });
});
