import { describe, expect, it } from 'vitest';
import { parseFlowControl } from '../../../lambdas/domain/flowControl.ts';

const fields = { key: 'Svc-Flow-Control-Key', value: 'Svc-Flow-Control-Value' };

describe('flow control', () => {
  it.each([
    ['parallelism=1', { parallelism: 1 }],
    ['rate=5', { rate: 5, period: 1 }],
    ['rate=5,period=2', { rate: 5, period: 2 }],
    ['RATE = 5 , Period = 1h30m', { rate: 5, period: 5_400 }],
    ['parallelism=2,rate=3,period=1d', { parallelism: 2, rate: 3, period: 86_400 }],
    ['ratePerSecond=4', { rate: 4, period: 1 }],
    ['parallelism=1000000000', { parallelism: 1_000_000_000 }],
  ])('is read: %s', (value, settings) => {
    expect(parseFlowControl(fields, 'key', value)).toEqual({ key: 'key', ...settings });
  });

  it('is none when neither header is given', () => {
    expect(parseFlowControl(fields, undefined, undefined)).toBeUndefined();
  });

  it.each([
    ['', 'rate=1', 'Svc-Flow-Control-Key is ""'],
    ['x'.repeat(257), 'rate=1', 'Svc-Flow-Control-Key is'],
    [undefined, 'rate=1', 'Svc-Flow-Control-Value is given without Svc-Flow-Control-Key.'],
    ['key', undefined, 'Svc-Flow-Control-Key is given without Svc-Flow-Control-Value; allowed is'],
    ['key', '', 'Svc-Flow-Control-Value is ""'],
    ['key', 'rate=1000000001', 'Svc-Flow-Control-Value is'],
    ['key', 'rate=1,rate=1', 'Svc-Flow-Control-Value is'],
    ['key', 'rate=1,Rate=1', 'Svc-Flow-Control-Value is'],
    ['key', 'rate=1,ratePerSecond=2', 'Svc-Flow-Control-Value is'],
    ['key', 'period=1', 'Svc-Flow-Control-Value is'],
    ['key', 'rate=1,period=1x', 'Svc-Flow-Control-Value is'],
    ['key', 'constructor=1,rate=1', 'Svc-Flow-Control-Value is'],
  ])('with the key %j and the value %j is refused', (key, value, says) => {
    expect(() => parseFlowControl(fields, key, value)).toThrow(says);
  });
});
