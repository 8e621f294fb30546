import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { messagesOfMonth, metricsDollars } from '../../../bench/bill/month.ts';
import { ordinaryMessage } from '../../../verify/prices/ordinaryMessage.ts';
import { countBoth, leversOf, rowsOf, type Counted } from '../../../bench/bill/table.ts';
import { ordinary, partsOf, sumOf } from '../../../verify/prices/workload.ts';
import { totalOf } from '../../../verify/prices/bill.ts';
import { deliveryMemoryMb } from '../../../lambdas/aws/resources.ts';
import { startFixture, type Fixture } from '../../../bench/fixture.ts';
import { dollarsPerMillion, qstashDollarsPerMillion } from '../../../verify/prices/prices.ts';

const document = (name: string): string => readFileSync(join(import.meta.dirname, '../../..', name), 'utf8');

let fixture: Fixture;
let counted: Counted;
beforeAll(async () => {
  fixture = await startFixture();
  // On a slow machine, time would pass, and more would be written and read again.
  vi.spyOn(Date, 'now').mockReturnValue(Date.now());
  counted = await countBoth(fixture);
});
afterAll(() => fixture.close());

/** The counts depend a little on ids and ports, and on the second in which usage is added up. */
const tolerance = 0.031;

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
      counted.url.lines.map(({ by, what, unit }) => [by, what, unit]),
    );
    ordinaryMessage.lines.forEach(({ amounts, gbMonths = 0 }, at) => {
      const line = counted.url.lines[at];
      // Which requests report the usage depends on earlier requests.
      const digits = line?.what === 'UpdateItem usage' ? 1 : 9;
      for (const size of [1, 10] as const)
        expect(amounts[size]).toBeCloseTo(line?.amounts[size] ?? NaN, digits);
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
      partsOf(ordinary({ region: 'us-east-1', batch, counted: counted.url })),
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
      const computed = saved < 0 ? [without - saved, -saved] : [without, saved];
      expect(differences(shown, computed), `${title}: ${without} ${saved}`).toEqual([]);
    }
  });

  it('and the README have the cost of a million messages, and QStash’s price', () => {
    const [us, eu] = (['us-east-1', 'eu-central-1'] as const).map((region) =>
      sumOf(partsOf(ordinary({ region, batch: 1, counted: counted.url }))),
    );
    const gateway = sumOf(partsOf(ordinary({ region: 'us-east-1', batch: 1, counted: counted.api })));
    const waiting = dollarsPerMillion('lambdaGbSecond', deliveryMemoryMb / 1024);
    const readme = document('README.md').replaceAll(/\s+/g, ' ');
    const [, ...shown] =
      /A million messages cost \[\$([\d.]+) in us-east-1 and \$([\d.]+) in eu-central-1\]\(.*\), all included, or \$([\d.]+) through .* \$([\d.]+) more for each second .* \[\$(\d+) for as many/.exec(
        readme,
      ) ?? [];
    expect(
      differences(shown.map(Number), [us ?? NaN, eu ?? NaN, gateway, waiting, qstashDollarsPerMillion]),
    ).toEqual([]);
    expect(shown).toHaveLength(5);
    const rows = [
      ['docs/guides/cost-of-my-month.md', 'a million messages of 1 KB,', us],
      ['README.md', 'svc-queue', us],
      ['README.md', 'QStash', qstashDollarsPerMillion],
    ] as const;
    for (const [name, row, dollars] of rows)
      expect(differences(dollarsIn(document(name), row), [dollars ?? NaN]), row).toEqual([]);
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
    const lines = messagesOfMonth({ ...month, by: 'url' }, counted.url);
    const of = (name: string) => sumOf(lines.filter(({ what }) => what.startsWith(name))) / hours;
    const gateway = sumOf(messagesOfMonth({ ...month, by: 'api' }, counted.api)) / hours;
    const slower = sumOf(messagesOfMonth({ ...month, answerMs: 1_100, by: 'url' }, counted.url)) / hours;
    const scale = document('docs/scale.md').replaceAll(/\s+/g, ' ');
    const [, ...shown] =
      /The bill is \$(\d+) an hour in us-east-1, and \$(\d+) through the gateway,.*\. Lambda's time is \$(\d+) of it, and the logs are \$(\d+) a day\. Each second that destinations take adds \$(\d+) an hour/.exec(
        scale,
      ) ?? [];
    const all = sumOf(lines) / hours;
    const computed = [all, gateway, of('Lambda, time'), of('CloudWatch, logs') * 24, slower - all];
    expect(shown).toHaveLength(computed.length);
    // The counts depend a little on ids and ports.
    for (const [at, dollars] of computed.entries())
      expect(Math.abs(Number(shown[at]) - dollars), `$${dollars}`).toBeLessThan(0.6 + dollars / 100);
  });
});
