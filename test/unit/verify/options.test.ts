import { describe, expect, it } from 'vitest';
import { afterChecks } from '../../../verify/after/checks.ts';
import { parseVerify, yesterday } from '../../../verify/options.ts';

const known = { before: ['names', 'stacks'], after: ['delivery', 'queue'] };
function helpOf(checks: typeof known): string {
  try {
    parseVerify(['--help'], checks);
  } catch (error) {
    return String(error);
  }
  throw new Error('There is no help.');
}
const parse = (...args: readonly string[]) => parseVerify(args, known);

describe('the options of verify', () => {
  it('have defaults, and may be repeated or separated by commas', () => {
    const args = ['--region', 'us-east-1', '--region', 'eu-central-1', '--only', 'delivery,queue', '--json'];
    const given = {
      regions: ['us-east-1', 'eu-central-1'],
      only: ['delivery', 'queue'],
      isJson: true,
      context: { name: 'SvcDev', ownHosts: 'a=b' },
    };
    expect(parse(...args, '-c', 'name=SvcDev', '-c', 'ownHosts=a=b')).toEqual({ ...parse(), ...given });
    expect(parse('--before', '--only', 'names')).toMatchObject({ isBefore: true, only: ['names'] });
    expect(parse()).toMatchObject({ isBefore: false, regions: [], isSlow: false, waitSeconds: 60 });
  });

  it('have modes: slow checks, the bill of a day, and a release', () => {
    expect(parse('--slow')).toMatchObject({ isSlow: true });
    expect(parse('--bill', '2026-11-25')).toMatchObject({ bill: '2026-11-25' });
    expect(parse('--bill').bill).toBe(yesterday(new Date()));
    expect(parse('--release', '--upgrade', 'a b').release).toEqual({ commands: ['a b'] });
    expect(parse('--release', '--upgrade', 'a', '--back', 'b').release).toEqual({ commands: ['a', 'b'] });
  });

  it.each([
    [['--bill', 'yesterday'], /Allowed is a day such as 2026-11-25/],
    [['--before', '--bill'], /--before and --bill exclude each other/],
    [['--before', '--slow'], /--slow is for the checks after a deployment/],
    [['--release'], /--release needs --upgrade/],
    [['--upgrade', 'a'], /--upgrade needs --release/],
    [['--back', 'a'], /--back needs --release/],
    [['--region', 'Europe'], /--region <region>' argument 'Europe' is invalid. Allowed is a region/],
    [['--only', 'names'], /There is no check names. The checks are delivery, queue\./],
    [['-c', 'name'], /Allowed is name=value/],
    [['--wait', '0'], /Allowed is a whole number/],
    [['now'], /too many arguments/i],
  ])('refuse %j, by name', (args, message) => {
    expect(() => parse(...args)).toThrow(message);
  });

  it('are shown when asked for, with examples and the names of the checks', () => {
    expect(() => parse('--help')).toThrow(/^Usage: svc-queue verify/);
    expect(() => parse('--help')).toThrow(/Examples:[^]*verify --before[^]*Checks after: delivery, queue\./);
  });

  it('have examples with existing checks', () => {
    const help = helpOf({ before: [], after: [] });
    const named = [...help.matchAll(/--only ([\w,-]+)\s/g)].flatMap(([, names = '']) => names.split(','));
    expect(named).not.toEqual([]);
    expect(afterChecks.map(({ name }) => name)).toEqual(expect.arrayContaining(named));
    expect(help).not.toMatch(/\[\]|\{\}/);
  });
});
