import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { idleUses } from '../../../verify/prices/resources.ts';
import { instanceLines, instancesFor } from '../../../bench/bill/instances.ts';
import { dollarsOfMonth, type Month, otherWay } from '../../../bench/bill/month.ts';
import { ordinaryMessage } from '../../../verify/prices/ordinaryMessage.ts';
import { instancesPayFrom, waitingRows } from '../../../bench/bill/waiting.ts';
import { sumOf } from '../../../verify/prices/workload.ts';

const secondsOfMonth = 730 * 3_600;

const monthOf = (perSecond: number, answerMs: number, more: Partial<Month> = {}): Month => ({
  messages: perSecond * secondsOfMonth,
  answerMs,
  region: 'us-east-1',
  kb: 1,
  by: 'api',
  batch: undefined,
  longDelivery: 'functions',
  ...more,
});

describe('instances', () => {
  it('are in an idle bill, with the minimum environments of their versions', () => {
    const uses = idleUses(
      [{ FunctionScalingConfig: { MinExecutionEnvironments: 3, MaxExecutionEnvironments: 18 } }, {}].map(
        (Properties) => ({ Type: 'AWS::Lambda::Version', Properties }),
      ),
    );
    const hours = uses.filter(({ unit }) => unit === 'instanceHour').map(({ amount }) => amount);
    expect(hours).toEqual([3 * 730, 0]);
    expect(uses.filter(({ unit }) => unit === 'instanceFeeHour').map(({ amount }) => amount)).toEqual(hours);
  });
});

describe('a month', () => {
  it('is compared with the other way, in both directions', () => {
    const sentence = (month: Month): string => otherWay(month, ordinaryMessage);
    expect(sentence(monthOf(1, 10_000))).toMatch(
      /^With longDelivery=instances the month costs \$148\.\d\d more: functions are cheaper\.$/,
    );
    expect(sentence(monthOf(1, 10_000, { longDelivery: 'instances' }))).toMatch(
      /^With longDelivery=functions the month costs \$148\.\d\d less: functions are cheaper\.$/,
    );
    expect(sentence(monthOf(1, 60_000))).toMatch(
      /^With longDelivery=instances the month costs \$508\.\d\d less: instances are cheaper\.$/,
    );
    expect(sentence(monthOf(1, 60_000, { longDelivery: 'instances' }))).toMatch(
      /^With longDelivery=functions the month costs \$508\.\d\d more: instances are cheaper\.$/,
    );
    expect(sentence(monthOf(100, 60_000))).toBe('longDelivery=instances has no room for them.');
    expect(sentence(monthOf(0.1, 900_000, { longDelivery: 'instances' }))).toBe(
      'longDelivery=functions has no room for them.',
    );
  });
});

describe('docs/cost.md, which `npm run bench cost` updates,', () => {
  const cost = readFileSync(join(import.meta.dirname, '../../../docs/cost.md'), 'utf8');
  const [, section = ''] = cost.split('## Functions or instances');
  const text = section.replaceAll(/\s+/g, ' ');
  const whole = (dollars: number): string => `$${Math.round(dollars).toLocaleString('en-US')}`;

  it('has a month’s bill by rate and answer time, on functions and on instances', () => {
    for (const { perSecond, answerMs, dollars } of waitingRows(ordinaryMessage)) {
      const start = `| ${perSecond.toLocaleString('en-US')} | ${answerMs / 1_000} s |`;
      const row = section
        .split('\n')
        .map((line) => line.replaceAll(/ +/g, ' '))
        .find((line) => line.startsWith(start));
      const cells = dollars.map((one) => (one === undefined ? '-' : whole(one)));
      expect(row, start).toBe(`${start} ${cells.join(' | ')} |`);
    }
  });

  it('says from which rate on instances are cheaper, and what they cost without messages', () => {
    const [us, eu] = (['us-east-1', 'eu-central-1'] as const).map((region) => ({
      from: instancesPayFrom(60_000, region, ordinaryMessage),
      floor: sumOf(instanceLines(instancesFor({ perSecond: 0, answerMs: 1, kb: 1 }), region)),
    }));
    expect(text).toContain(
      `Instances are cheaper if at least ${us?.from} messages wait at once in us-east-1, or ${eu?.from} in eu-central-1. If answers take 10 s, ${us?.from} messages wait at once at a rate of ${(us?.from ?? NaN) / 10} a second.`,
    );
    expect(text).toContain(
      `${whole(us?.floor ?? NaN)} a month in us-east-1 and ${whole(eu?.floor ?? NaN)} in eu-central-1`,
    );
    const [, idle = ''] = cost.split('## Idle, a month');
    expect(idle).toContain(
      `adds ${whole(us?.floor ?? NaN)} a month in us-east-1 and ${whole(eu?.floor ?? NaN)} in eu-central-1`,
    );
    // Answers of ten seconds give the same limit.
    expect(instancesPayFrom(10_000, 'us-east-1', ordinaryMessage)).toBe(us?.from);
    expect(dollarsOfMonth(monthOf(0, 1, { longDelivery: 'instances' }), ordinaryMessage)).toBe(us?.floor);
    expect(dollarsOfMonth(monthOf(0, 1), ordinaryMessage)).toBe(0);
  });
});
