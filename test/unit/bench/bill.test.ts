import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { batchAt } from '../../../bench/bill/batches.ts';
import { messagesOfMonth, metricsDollars } from '../../../bench/bill/month.ts';
import { ordinaryMessage } from '../../../bench/bill/ordinaryMessage.ts';
import { countBoth, leversOf, rowsOf, type Counted } from '../../../bench/bill/table.ts';
import { ordinary, partsOf, sumOf, type Workload } from '../../../bench/bill/workload.ts';
import { countBody, totalOf } from '../../../bench/count.ts';
import { startFixture, type Fixture } from '../../../bench/fixture.ts';
import { parseOptions } from '../../../bench/options.ts';
import { apiDollars, dollarsPerMillion, qstashDollarsPerMillion } from '../../../bench/prices.ts';
import { Ending } from '../../../cli/commandLine.ts';

const document = (name: string): string => readFileSync(join(import.meta.dirname, '../../..', name), 'utf8');

let fixture: Fixture;
let counted: Counted;
beforeAll(async () => {
  fixture = await startFixture();
  counted = await countBoth(fixture);
}, 60_000);
afterAll(() => fixture.close());

const partOf = (workload: Workload, name: string): number =>
  sumOf(partsOf(workload).filter(({ what }) => what.startsWith(name)));

describe('the whole bill of a million messages', () => {
  const alone = () => ordinary({ region: 'us-east-1', batch: 1, counted: counted.api });

  it('includes the time in which a function waits for the destination, for each message or for ten', () => {
    const waiting = (batch: number) =>
      partOf({ ...alone(), batch, answerMs: 11_000 }, 'Lambda, time of deliver') -
      partOf({ ...alone(), batch, answerMs: 1_000 }, 'Lambda, time of deliver');
    // Ten seconds of half a gigabyte.
    expect(waiting(1)).toBeCloseTo(10 * 0.5 * 13.3334, 2);
    expect(waiting(10)).toBeCloseTo(0.5 * 13.3334, 2);
  });

  it('includes one invocation, one receive and one delete for each batch of any size', () => {
    const saved = (name: string) => partOf(alone(), name) - partOf({ ...alone(), batch: 5 }, name);
    expect(saved('Lambda, requests')).toBeCloseTo(0.2 * (1 - 1 / 5), 5);
    expect(saved('SQS')).toBeCloseTo(2 * 0.4 * (1 - 1 / 5), 5);
  });

  it('uses the prices of its region', () => {
    const [us, eu] = [alone(), { ...alone(), region: 'eu-central-1' as const }];
    expect(partOf(eu, 'DynamoDB, writes') / partOf(us, 'DynamoDB, writes')).toBeCloseTo(0.7625 / 0.625, 5);
    expect(partOf(eu, 'API')).toBe(3.7);
    expect(partOf(us, 'API')).toBe(3.5);
  });

  it('includes units of provisioned capacity by the hour, for the table of messages only', () => {
    const provisioned: Workload = { ...alone(), capacityUse: 0.7 };
    // Three writes are of messages and their index. One unit serves 3,600 writes an hour.
    const messages = (3 * 1e6 * 0.000_65) / 3_600 / 0.7;
    const others = partOf(alone(), 'DynamoDB, writes') - 3 * 0.625;
    expect(partOf(provisioned, 'DynamoDB, writes')).toBeCloseTo(messages + others, 5);
  });

  it('includes rows until they expire, and recovery of the table without its index', () => {
    const storage = partOf(alone(), 'DynamoDB, storage') / 0.25;
    const recovery = partOf(alone(), 'DynamoDB, point-in-time') / 0.2;
    // A message, its attempt and its index entry: less than 2 KB for half a month.
    expect(storage).toBeGreaterThan(0.5);
    expect(storage).toBeLessThan(1.5);
    expect(recovery).toBeGreaterThan(storage / 2);
    expect(recovery).toBeLessThan(storage);
  });

  it('includes the extra cost of a larger message: traffic, and S3 above 9 KB', async () => {
    const kb = 16;
    const body = randomBytes(kb * 1_024);
    const large: Workload = { ...alone(), kb, counted: await countBody(fixture, body, 'api') };
    const traffic = partOf(large, 'traffic') - partOf(alone(), 'traffic');
    expect(traffic).toBeCloseTo((((kb - 1) * 1_024) / 2 ** 30) * 1e6 * 0.09, 3);
    expect(partOf(alone(), 'S3')).toBe(0);
    // A PUT, a GET, and 16 days of 16 GB.
    expect(partOf(large, 'S3')).toBeCloseTo(5 + 0.4 + ((kb * 1e6) / 2 ** 20) * 0.023 * ((16 * 24) / 730), 2);
  });
});

describe('a month', () => {
  it('is the number of messages times the cost of a million', () => {
    const month = {
      messages: 5e6,
      answerMs: 2_000,
      region: 'eu-central-1',
      kb: 1,
      by: 'api',
      longDelivery: 'functions',
    } as const;
    const lines = messagesOfMonth({ ...month, batch: 1 }, counted.api);
    const million = sumOf(partsOf({ ...month, batch: 1, counted: counted.api }));
    expect(sumOf(lines)).toBeCloseTo(5 * million, 5);
  });

  it('pays less for later requests to the API, in us-east-1', () => {
    expect(apiDollars(333e6, 'us-east-1')).toBeCloseTo(333 * 3.5, 5);
    expect(apiDollars(1_000e6, 'us-east-1')).toBeCloseTo(333 * 3.5 + 667 * 2.8, 5);
    expect(apiDollars(21e9, 'us-east-1')).toBeCloseTo(
      333 * 3.5 + 667 * 2.8 + 19_000 * 2.38 + 1_000 * 1.51,
      5,
    );
    expect(apiDollars(1_000e6, 'eu-central-1')).toBeCloseTo(3_700, 5);
  });

  it.each([
    [1, 0, 1],
    [199, 0, 1],
    [200, 0, 2],
    [1_000, 0, 10],
    [20_000, 0, 10],
    [1, 1, 1],
    [10, 1, 2],
    [50, 1, 10],
    [25, 2, 10],
  ])('for %d messages a second, with a window of %d s, has batches of %d', (perSecond, window, batch) => {
    expect(batchAt(perSecond, window)).toBe(batch);
  });
});

describe('the options of the bill', () => {
  it('have a default except for the number of messages', () => {
    expect(parseOptions(['cost', '--messages', '5000000'])).toEqual({
      kind: 'month',
      month: {
        messages: 5e6,
        answerMs: 100,
        region: 'us-east-1',
        kb: 1,
        by: 'api',
        batch: undefined,
        longDelivery: 'functions',
      },
    });
  });

  it.each([
    ['250ms', 250],
    ['2s', 2_000],
    ['1.5s', 1_500],
    ['1m', 60_000],
  ])('accept %s as a time', (answer, answerMs) => {
    expect(parseOptions(['cost', '--messages', '1', '--answer', answer])).toMatchObject({
      month: { answerMs },
    });
  });

  it.each<[string[], RegExp]>([
    [
      ['--messages', '0'],
      /'--messages <number>' argument '0' is invalid. Allowed is a whole number from 1 to/,
    ],
    [
      ['--messages', '1', '--answer', '2'],
      /Allowed is a time from 1ms to 840s, or 5280s on instances, with its unit, such as 250ms/,
    ],
    [
      ['--messages', '1', '--answer', '15m'],
      /A function waits 840s for an answer; --long-delivery instances waits/,
    ],
    [
      ['--messages', '1', '--answer', '89m', '--long-delivery', 'instances'],
      /1ms to 840s, or 5280s on instances/,
    ],
    [['--messages', '1', '--batch', '2', '--long-delivery', 'instances'], /--batch is for functions/],
    [['--messages', '1', '--long-delivery', 'servers'], /Allowed choices are functions, instances/],
    [['--messages', '1', '--region', 'eu-west-1'], /Allowed choices are us-east-1, eu-central-1/],
    [['--messages', '1', '--kb', '5000'], /Allowed is a whole number from 1 to 4096/],
    [['--messages', '1', '--batch', '11'], /Allowed is a whole number from 1 to 10/],
    [['--messages', '1', '--by', 'mail'], /Allowed choices are api, url/],
    [['--answer', '2s'], /A month needs its number of messages/],
  ])('refuse %j, and say what is allowed', (args, sentence) => {
    expect(() => parseOptions(['cost', ...args])).toThrow(Ending);
    expect(() => parseOptions(['cost', ...args])).toThrow(sentence);
  });

  it('accept the longer answers of instances', () => {
    const args = ['cost', '--messages', '1', '--answer', '88m', '--long-delivery', 'instances'];
    expect(parseOptions(args)).toMatchObject({ month: { answerMs: 5_280_000, longDelivery: 'instances' } });
  });

  it('are refused together with another part', () => {
    expect(() => parseOptions(['idle', '--long-delivery', 'instances'])).toThrow(
      /--long-delivery is a flag of/,
    );
    expect(() => parseOptions(['idle', '--messages', '5'])).toThrow(/--messages is a flag of the part cost/);
  });
});

/** A cent: the counts depend a little on ids and ports. */
const tolerance = 0.011;

function dollarsIn(text: string, beginning: string): readonly number[] {
  const row = text.split('\n').find((line) => line.startsWith(`| ${beginning} `));
  if (row === undefined) throw new Error(`There is no row ${beginning}.`);
  return [...row.matchAll(/\$([\d.]+)/g)].map(([, dollars]) => Number(dollars));
}

const differences = (shown: readonly number[], computed: readonly number[]): readonly number[] =>
  shown.length === computed.length
    ? shown.filter((dollars, at) => Math.abs(dollars - (computed[at] ?? NaN)) > tolerance)
    : shown;

describe('docs/cost.md, which `npm run bench cost` updates,', () => {
  const cost = document('docs/cost.md');

  it('has the whole bill by region, batch and time of the answer', () => {
    for (const { region, title, cells } of rowsOf(counted)) {
      const shown = dollarsIn(cost, `${region}, ${title}`);
      expect(
        differences(
          shown,
          cells.map((cell) => Number(cell.slice(1))),
        ),
        `${region}, ${title}: ${cells.join(' ')}`,
      ).toEqual([]);
    }
  });

  it('has the calls of a message, equal to the forecast of `verify --bill`', () => {
    expect(ordinaryMessage.lines.map(({ by, what, unit }) => [by, what, unit])).toEqual(
      counted.api.lines.map(({ by, what, unit }) => [by, what, unit]),
    );
    ordinaryMessage.lines.forEach(({ amounts, gbMonths = 0 }, at) => {
      const line = counted.api.lines[at];
      for (const size of [1, 10] as const) expect(amounts[size]).toBeCloseTo(line?.amounts[size] ?? NaN, 9);
      // It depends a little on the length of ids and ports.
      expect(Math.abs(gbMonths - (line?.gbMonths ?? NaN))).toBeLessThan(1e-8);
    });
    const [, section = ''] = cost.split('## The calls of a message');
    const [table = ''] = section.split('**sum**');
    const shown = [...table.matchAll(/(\d\.\d{3}) \| +(\d\.\d{3}) \|$/gm)];
    const sumAt = (column: 1 | 2): number => shown.reduce((sum, row) => sum + Number(row[column]), 0);
    expect(sumAt(1)).toBeCloseTo(totalOf(ordinaryMessage, 1), 2);
    expect(sumAt(2)).toBeCloseTo(totalOf(ordinaryMessage, 10), 2);
  });

  it('has its parts', () => {
    const [alone = [], batched = []] = [1, 10].map((batch) =>
      partsOf(ordinary({ region: 'us-east-1', batch, counted: counted.api })),
    );
    alone.forEach(({ what, dollars }, at) => {
      const computed = [dollars, batched[at]?.dollars ?? NaN];
      // An ordinary message does not use S3, and functions do not use a NAT gateway.
      if (dollars === 0) return;
      expect(differences(dollarsIn(cost, what), computed), `${what}: ${computed.join(' ')}`).toEqual([]);
    });
  });

  it('has the savings of each lever', () => {
    for (const { title, without, saved } of leversOf(counted)) {
      const shown = dollarsIn(cost, title);
      expect(differences(shown, [without, saved]), `${title}: ${without} ${saved}`).toEqual([]);
    }
  });

  it('and the README have the cost of a million messages, and QStash’s price', () => {
    const [us, eu] = (['us-east-1', 'eu-central-1'] as const).map((region) =>
      sumOf(partsOf(ordinary({ region, batch: 1, counted: counted.api }))),
    );
    const url = sumOf(partsOf(ordinary({ region: 'us-east-1', batch: 1, counted: counted.url })));
    const waiting = dollarsPerMillion('lambdaGbSecond', 0.5);
    const readme = document('README.md').replaceAll(/\s+/g, ' ');
    const [, ...shown] =
      /A million messages cost \[\$([\d.]+) in us-east-1 and \$([\d.]+) in eu-central-1\]\(.*\), all included, or \$([\d.]+) through .* \$([\d.]+) more for each second .* \[\$(\d+) for as many/.exec(
        readme,
      ) ?? [];
    expect(
      differences(shown.map(Number), [us ?? NaN, eu ?? NaN, url, waiting, qstashDollarsPerMillion]),
    ).toEqual([]);
    expect(shown).toHaveLength(5);
    const rows = [
      ['a million messages of 1 KB,', us],
      ['svc-queue', us],
      ['[QStash](https://upstash.com/docs/qstash)', qstashDollarsPerMillion],
    ] as const;
    for (const [row, dollars] of rows)
      expect(differences(dollarsIn(document('README.md'), row), [dollars ?? NaN]), row).toEqual([]);
    expect(cost).toContain(`$${metricsDollars('us-east-1').toFixed(2)} a month`);
  });
});

describe('docs/scale.md', () => {
  it('has the bill of an hour with 10,000 messages a second', () => {
    const hours = 730;
    const month = {
      messages: 10_000 * hours * 3_600,
      answerMs: 100,
      region: 'us-east-1',
      kb: 1,
      batch: undefined,
      longDelivery: 'functions',
    } as const;
    const lines = messagesOfMonth({ ...month, by: 'api' }, counted.api);
    const of = (name: string) => sumOf(lines.filter(({ what }) => what.startsWith(name))) / hours;
    const url = sumOf(messagesOfMonth({ ...month, by: 'url' }, counted.url)) / hours;
    const slower = sumOf(messagesOfMonth({ ...month, answerMs: 1_100, by: 'api' }, counted.api)) / hours;
    const scale = document('docs/scale.md').replaceAll(/\s+/g, ' ');
    const whole = (dollars: number): string => `$${dollars.toFixed(0)}`;
    expect(scale).toContain(`The bill is ${whole(sumOf(lines) / hours)} an hour in us-east-1`);
    expect(scale).toContain(
      `and ${whole(url)} through the publish URL. Lambda's time is ${whole(of('Lambda, time'))} of it`,
    );
    expect(scale).toContain(`and the logs are ${whole(of('CloudWatch, logs') * 24)} a day`);
    expect(scale).toContain(
      `Each second that destinations take adds ${whole(slower - sumOf(lines) / hours)} an hour, in full batches.`,
    );
  });
});
