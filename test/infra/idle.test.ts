import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { idleBills, idleDollars, type IdleLine } from '../../bench/idle.ts';
import { limitForHangsMs } from '../support/limits.ts';
import { root } from './app.ts';

/** The dollars of lines, as the documents have them. */
const shown = (lines: readonly IdleLine[]): string =>
  idleDollars(lines)
    .map((dollars) => `$${dollars.toFixed(2)}`)
    .join(' ');

const read = (name: string): string => readFileSync(join(root, name), 'utf8');

describe('what an idle deployment costs', () => {
  const bills = idleBills();

  it('is in docs/cost.md as the templates have it, line by line, and in sum for each way to monitor', () => {
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

  it('is printed with the bill of a month, by the command', { timeout: limitForHangsMs }, async () => {
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
      `\\${all} a month.*\\${essential} with\\s+the\\s+essential\\s+alarms\\s+only,.*\\${none} without`,
      's',
    );
    for (const name of ['README.md', 'docs/deploy.md']) expect(read(name)).toMatch(sentence);
  });
});
