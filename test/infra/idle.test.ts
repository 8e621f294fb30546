import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { idleBills, idleDollars, type IdleLine } from '../../bench/idle.ts';
import { metricsDollars } from '../../bench/bill/month.ts';
import { idleUses } from '../../verify/prices/resources.ts';
import { pricedRegionOf, unitDollars } from '../../verify/prices/prices.ts';
import { resources, root, synthesizeOne } from './app.ts';
import { type Context, everythingOn, withAddresses } from './variants.ts';

/** The dollars of lines, as in the documents. */
const shown = (lines: readonly IdleLine[]): string =>
  idleDollars(lines)
    .map((dollars) => `$${dollars.toFixed(2)}`)
    .join(' ');

/** The dollars of each use of a kind in a month, with a region's prices. */
function monthly(where: string, context: Context): (...whats: string[]) => number[] {
  const { state, service } = synthesizeOne(context);
  const uses = idleUses([state, service].flatMap((one) => [...resources(one).values()]));
  return (...whats) =>
    uses
      .filter(({ what }) => whats.includes(what))
      .map(({ unit, amount }) => unitDollars(unit, amount, pricedRegionOf(where)));
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0);

const read = (name: string): string => readFileSync(join(root, name), 'utf8');

describe('what an idle deployment costs', () => {
  const bills = idleBills();

  it('is in docs/cost.md as in the templates, line by line, and in total for each way to monitor', () => {
    const [, section = ''] = read('docs/cost.md').split('## Idle, a month');
    const [table = ''] = section.split(/^Free/m);
    const rows = [...table.matchAll(/^\|.*?((?: \| +\**\$[\d.]+\**){3}) \|$/gm)].map(([, cells = '']) =>
      [...cells.matchAll(/\$[\d.]+/g)].join(' '),
    );
    const [defaults] = bills;
    expect(rows).toEqual([
      ...(defaults?.lines ?? []).map((line) => shown([line])),
      ...bills.map(({ lines }) => shown(lines)),
    ]);
  });

  it('is in the README and in docs/deploy.md, in whole dollars', () => {
    const [all, essential, none] = bills.map(({ lines }) => `$${idleDollars(lines)[2].toFixed(0)}`);
    const sentence = new RegExp(
      `\\${all} a month.*\\${essential}\\s+with\\s+the\\s+essential\\s+alarms\\s+only,.*\\${none} without`,
      's',
    );
    expect(read('README.md')).toMatch(sentence);
    const [ofOne, , without] = bills.map(({ lines }) => idleDollars(lines)[0].toFixed(0));
    const second = idleDollars(bills[0]?.lines ?? [])[1].toFixed(2);
    expect(read('README.md')).toContain(`# $${ofOne} a month without any messages`);
    expect(read('docs/deploy.md')).toMatch(
      new RegExp(
        `# \\$${ofOne} a month without any messages, \\$${without} with -c monitoring=false.*\\$${second} more`,
        's',
      ),
    );
  });

  it('is in the guide to costs as a part of a month’s bill, with the messages that test/unit/bench/bill.test.ts counts', () => {
    const table = read('docs/guides/cost-of-my-month.md');
    const [messages = NaN, metrics, idle, all] = [...table.matchAll(/\$([\d.]+)\** \|$/gm)].map(
      ([, dollars]) => Number(dollars),
    );
    const idleOfOne = idleDollars(bills[0]?.lines ?? [])[0];
    expect([metrics, idle]).toEqual([metricsDollars('us-east-1'), Number(idleOfOne.toFixed(2))]);
    expect(all).toBeCloseTo(messages + metricsDollars('us-east-1') + idleOfOne, 2);
  });

  it('is in docs/network.md for each fixed address, and for endpoints in a VPC of two zones', () => {
    const network = read('docs/network.md').replaceAll(/\s+/g, ' ');
    const [us, eu] = ['us-east-1', 'eu-central-1'].map((where) => {
      const both = sum(monthly(where, withAddresses)('NAT gateways', 'addresses of NAT gateways'));
      return (both / 2).toFixed(2);
    });
    expect(network).toContain(`A month costs $${us} an address in us-east-1 and $${eu} in eu-central-1`);
    // With managed instances there are endpoints of SQS, Scheduler, Secrets Manager, Lambda, CloudWatch Logs and X-Ray.
    const each = sum(monthly('us-east-1', everythingOn)('endpoints')) / 6;
    const [three, four] = [3, 4].map((count) => (count * each).toFixed(0));
    expect(network).toContain(
      `for some $${three} a month in two zones of us-east-1, and $${Number(four) - Number(three)} more for each of Lambda`,
    );
  });
});
