import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { idleUses } from '../../../bench/bill/resources.ts';
import { instanceLines, instancesFor, mostWaiting, waitingAtOnce } from '../../../bench/bill/instances.ts';
import {
  batchOfMonth,
  dollarsOfMonth,
  type Month,
  otherWay,
  roomOfMonth,
} from '../../../bench/bill/month.ts';
import { ordinaryMessage } from '../../../bench/bill/ordinaryMessage.ts';
import { instancesPayFrom, waitingRows } from '../../../bench/bill/waiting.ts';
import { ordinary, partsOf, sumOf } from '../../../bench/bill/workload.ts';
import { prices } from '../../../bench/prices.ts';

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
  it('are one for each environment of 58 messages, for twice the waiting messages, and one for the queue `dead`', () => {
    expect(waitingAtOnce({ perSecond: 5, answerMs: 58_000, kb: 1 })).toBeCloseTo(290, 0);
    // Each message takes eleven milliseconds of CPU and AWS calls.
    expect(instancesFor({ perSecond: 4.99, answerMs: 58_000, kb: 1 })).toBe(10 + 1);
    expect(instancesFor({ perSecond: 5, answerMs: 58_000, kb: 1 })).toBe(11 + 1);
  });

  it('are never more than a queue’s 1,000 executions need', () => {
    expect(instancesFor({ perSecond: 16, answerMs: 60_000, kb: 1 })).toBe(18 + 1);
  });

  it('are at least four, because three environments of `long` are in three zones', () => {
    expect(instancesFor({ perSecond: 0, answerMs: 60_000, kb: 1 })).toBe(4);
    expect(instancesFor({ perSecond: 1, answerMs: 60_000, kb: 1 })).toBe(4);
  });

  it('depend on the CPU if answers are quick', () => {
    // 5,000 messages take 7 CPUs, half of the available ones.
    expect(instancesFor({ perSecond: 5_000, answerMs: 1, kb: 1 })).toBe(14 + 1);
  });

  it('cost their hours, 15 % more, and a NAT gateway with its address', () => {
    const [ec2, fee, nat] = instanceLines(4, 'us-east-1').map(({ dollars }) => dollars);
    expect(ec2).toBeCloseTo(4 * 730 * 0.0725, 6);
    expect(fee).toBeCloseTo(0.15 * 4 * 730 * 0.0725, 6);
    expect(nat).toBeCloseTo(730 * (0.045 + 0.005), 6);
    const { instanceHour, instanceFeeHour } = prices;
    for (const region of ['us-east-1', 'eu-central-1'] as const)
      expect(instanceFeeHour.dollarsPerMillion[region]).toBeCloseTo(
        0.15 * instanceHour.dollarsPerMillion[region],
        6,
      );
  });

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
  it('on instances has no function time, batches of one, and gigabytes through the NAT gateway', () => {
    const workload = {
      ...ordinary({ region: 'us-east-1', batch: 10, counted: ordinaryMessage }),
      answerMs: 60_000,
    };
    const on = partsOf({ ...workload, longDelivery: 'instances' });
    const alone = partsOf({ ...workload, batch: 1 });
    const nat = ((1_024 + 1_500 + 500) / 2 ** 30) * 1e6 * 0.045;
    const waited = (60_000 + 1.4 * (1_769 / 512) + 10) / 1_000;
    expect(sumOf(alone) - sumOf(on)).toBeCloseTo(waited * 0.5 * 13.3334 - nat, 2);
    expect(on.find(({ what }) => what === 'Lambda, requests')?.dollars).toBeCloseTo(0.4, 9);
  });

  it('on functions has the batches of 200 executions', () => {
    expect(batchOfMonth(monthOf(10, 10_000))).toBe(1);
    expect(batchOfMonth(monthOf(100, 10_000))).toBeCloseTo(5, 1);
    expect(batchOfMonth(monthOf(100, 60_000))).toBe(10);
    expect(batchOfMonth(monthOf(100, 10_000, { batch: 2 }))).toBe(2);
  });

  it('has room for 1,000 executions: ten messages each on functions, one on instances', () => {
    expect(mostWaiting('functions')).toBe(10_000);
    expect(mostWaiting('instances')).toBe(1_000);
    expect(roomOfMonth(monthOf(1, 900_000)).most).toBe(0);
    expect(roomOfMonth(monthOf(1, 900_000, { longDelivery: 'instances' })).most).toBe(1_000);
  });

  it('is compared with the other way, in both directions', () => {
    const sentence = (month: Month): string => otherWay(month, ordinaryMessage);
    expect(sentence(monthOf(1, 10_000))).toMatch(
      /^With longDelivery=instances the month costs \$104\.\d\d more: functions are cheaper\.$/,
    );
    expect(sentence(monthOf(1, 10_000, { longDelivery: 'instances' }))).toMatch(
      /^With longDelivery=functions the month costs \$104\.\d\d less: functions are cheaper\.$/,
    );
    expect(sentence(monthOf(1, 60_000))).toMatch(
      /^With longDelivery=instances the month costs \$771\.\d\d less: instances are cheaper\.$/,
    );
    expect(sentence(monthOf(1, 60_000, { longDelivery: 'instances' }))).toMatch(
      /^With longDelivery=functions the month costs \$771\.\d\d more: instances are cheaper\.$/,
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
