import { expect, it } from 'vitest';
import { messagesPerSecond, oneInTwenty } from '../../../bench/simulate/executions.ts';

it('One slow message in twenty costs less than half of the throughput instead of nearly all', () => {
  const without = messagesPerSecond({ ...oneInTwenty, slowShare: 0 }, true);
  // 200 executions, each with a batch of ten in 167 ms.
  expect(without).toBeGreaterThan(11_800);
  expect(without).toBeLessThan(12_100);
  expect(messagesPerSecond(oneInTwenty, false)).toBeLessThan(without / 50);
  expect(messagesPerSecond(oneInTwenty, true)).toBeGreaterThan(without / 2);
});
