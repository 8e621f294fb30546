import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { idleBills, idleDollars, type IdleLine } from '../../bench/idle.ts';
import { limitForHangsMs } from '../support/limits.ts';
import { metricsDollars } from '../../bench/bill/month.ts';
import { idleUses } from '../../bench/bill/resources.ts';
import { pricedRegionOf, unitDollars } from '../../bench/prices.ts';
import { everythingOn, fixedAddresses, resources, root, synthesizeOne } from './app.ts';

/** The dollars of lines, as in the documents. */
const shown = (lines: readonly IdleLine[]): string =>
  idleDollars(lines)
    .map((dollars) => `$${dollars.toFixed(2)}`)
    .join(' ');

/** A region's dollars per month with these settings, by kind of use. */
function monthly(where: string, context: Readonly<Record<string, string>>): (...whats: string[]) => string {
  const { state, service } = synthesizeOne(
    Object.fromEntries(
      Object.entries(context).map(([name, value]) => [name, value.replaceAll('eu-central-1', where)]),
    ),
  );
  const uses = idleUses([state, service].flatMap((one) => [...resources(one).values()]));
  return (...whats) =>
    uses
      .filter(({ what }) => whats.includes(what))
      .reduce((sum, { unit, amount }) => sum + unitDollars(unit, amount, pricedRegionOf(where)), 0)
      .toFixed(2);
}

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

  it('is printed by the command with the bill of a month', { timeout: limitForHangsMs }, async () => {
    const { VITEST: _, ...env } = process.env;
    const args = ['--import', 'tsx', 'bench/run.ts', 'cost', '--messages', '2000000'];
    const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: root, env });
    const [, idle] = /^idle: one region with the defaults +([\d.]+)$/m.exec(stdout) ?? [];
    expect(idle).toBe(idleDollars(bills[0]?.lines ?? [])[0].toFixed(2));
    const [, messages = '', month = ''] =
      /^all messages +[\d.]+ +([\d.]+)$.*^the month +([\d.]+)$/ms.exec(stdout) ?? [];
    const metrics = 1.5;
    expect(Number(month)).toBeCloseTo(Number(messages) + metrics + Number(idle), 1);
  });

  it('is in the README and in docs/deploy.md, in whole dollars', () => {
    const [all, essential, none] = bills.map(({ lines }) => `$${idleDollars(lines)[2].toFixed(0)}`);
    const sentence = new RegExp(
      `\\${all} a month.*\\${essential}\\s+with\\s+the\\s+essential\\s+alarms\\s+only,.*\\${none} without`,
      's',
    );
    for (const name of ['README.md', 'docs/deploy.md']) expect(read(name)).toMatch(sentence);
  });

  it('is in the README as a part of a month’s bill, with the messages that test/unit/bench/bill.test.ts counts', () => {
    const [, section = ''] = read('README.md').split('### What a month costs');
    const [table = ''] = section.split('npm run bench cost');
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
      const zones = 'eu-central-1=use1-az4';
      const dollars = monthly(where, {
        ...everythingOn,
        ...fixedAddresses,
        fixedAddresses: 'eu-central-1=eipalloc-0a1b2c3d',
        zones: where === 'us-east-1' ? zones : 'eu-central-1=euc1-az2',
      });
      return dollars('NAT gateways', 'addresses of NAT gateways');
    });
    expect(network).toContain(`A month costs $${us} an address in us-east-1 and $${eu} in eu-central-1`);
    const dollarsOf = (vpcEndpoints: string): string => {
      const all = monthly('us-east-1', { ...everythingOn, vpcEndpoints })('endpoints');
      return Number(all).toFixed(0);
    };
    expect(network).toContain(
      `for some $${dollarsOf('sqs,scheduler,secretsmanager')} a month in two zones of us-east-1, and $${Number(dollarsOf('sqs,scheduler,secretsmanager,lambda')) - Number(dollarsOf('sqs,scheduler,secretsmanager'))} more for each of Lambda`,
    );
  });
});
