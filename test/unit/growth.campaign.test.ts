import { afterAll, beforeAll, expect, it } from 'vitest';
import { measureBranches } from '../../bench/growth/branches.ts';
import { measureGrowth, type Growth } from '../../bench/growth/grow.ts';
import { grown } from '../../bench/growth/print.ts';
import { startFixture, type Fixture } from '../../bench/fixture.ts';
import { sizeOf } from '../support/sample.ts';

/** `npm run bench -- --growth` uses 100,000. Code that reads everything costs three times as much here. */
const many = sizeOf({ ordinary: 300, thorough: 10_000 });

const branches = sizeOf({ ordinary: 120, thorough: 1_000 });

let fixture: Fixture;
beforeAll(async () => {
  fixture = await startFixture();
});
afterAll(() => fixture.close());

it('a message takes the same calls and costs the same, however many others wait, have failed, or are in its line', async () => {
  const filled: string[] = [];
  const onFilling = (backlog: string, level: number): void => {
    filled.push(`${level} ${backlog}`);
  };
  const growths = await measureGrowth(fixture, [100, many], onFilling);
  expect(growths.map(({ backlog, there }) => `${there} ${backlog}`)).toEqual(filled);
  expect(growths).toHaveLength(6);
  for (const { calls, dollars } of growths) {
    expect(calls.publish).toBeGreaterThanOrEqual(3);
    expect(calls.deliver).toBeGreaterThanOrEqual(2);
    expect(dollars.publish).toBeGreaterThan(1);
    // A write unit costs $0.625.
    expect(dollars.deliver).toBeGreaterThan(0.625);
  }
  expect(grown(growths)).toEqual([]);
});

it('a branch takes the same calls and costs the same, however many parallel branches a run has', async () => {
  const growths = await measureBranches(fixture, [40, branches], () => undefined);
  expect(growths.map(({ there }) => there)).toEqual([40, branches]);
  // Two deliveries. Each reads its message and records its attempt; the run is read once for the batch.
  for (const { calls } of growths) expect(calls.deliver).toBeGreaterThan(4);
  expect(grown(growths)).toEqual([]);
});

it('growing calls and dollars are reported, with the function and the numbers', () => {
  const few: Growth = {
    backlog: 'in the line of a queue',
    there: 100,
    calls: { publish: 5, deliver: 6 },
    dollars: { publish: 2, deliver: 3 },
  };
  const others: readonly Growth[] = [
    { ...few, there: 10_000, calls: { publish: 5.05, deliver: 6 } },
    { ...few, there: 100_000, calls: { publish: 5, deliver: 7 }, dollars: { publish: 2.5, deliver: 3 } },
  ];
  expect(grown([few, ...others])).toEqual([
    'With 100000 messages in the line of a queue, the dollars of publish for one are 2.50, with 100 they are 2.00.',
    'With 100000 messages in the line of a queue, the calls of deliver for one are 7.00, with 100 they are 6.00.',
  ]);
});
