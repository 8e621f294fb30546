import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { App } from 'aws-cdk-lib';
import { describe, expect, it } from 'vitest';
import { readSettings, settingNames } from '../../lib/settings.ts';
import { cdkContext, root } from './app.ts';

const read = (context: Record<string, unknown>) => readSettings(new App({ context }));

describe('the settings of a deployment', () => {
  it('are complete without any context', () => {
    expect(read({})).toEqual({
      name: 'Svc',
      regions: ['eu-central-1', 'us-east-1'],
      retain: true,
      logRetentionDays: 30,
      logLevel: 'INFO',
      headerPrefixes: ['Svc', 'Upstash'],
      allowedDestinations: [],
      ownHosts: [],
      throttleRate: 10_000,
      throttleBurst: 5_000,
      deliveryConcurrency: 300,
      publishUrl: false,
      pricePerMessage: 0.000_01,
      gatewayLogRole: true,
      monitoring: true,
      forEmulator: false,
      tracing: false,
      alarmEmails: [],
      accountConcurrency: 1_000,
      clientPatience: 1,
    });
  });

  it('may stand beside what the CDK keeps in the context', () => {
    expect(read({ ...cdkContext, 'aws:cdk:bundling-stacks': ['**'] })).toEqual(read({}));
  });

  it('are the same as text, from the command line, and as JSON, from cdk.json', () => {
    const text = {
      regions: 'eu-west-1, ap-southeast-2',
      retain: 'false',
      logRetentionDays: '7',
      allowedDestinations: '10.0.0.0/8,intranet.example.com',
      deliveryConcurrency: '50',
      publishConcurrency: '200',
      pricePerMessage: '0.0002',
    };
    const json = {
      regions: ['eu-west-1', 'ap-southeast-2'],
      retain: false,
      logRetentionDays: 7,
      allowedDestinations: ['10.0.0.0/8', 'intranet.example.com'],
      deliveryConcurrency: 50,
      publishConcurrency: 200,
      pricePerMessage: 0.0002,
    };
    expect(read(text)).toEqual(read(json));
    expect(read(text)).toMatchObject(json);
  });

  it('know an empty list', () => {
    expect(read({ allowedDestinations: '' }).allowedDestinations).toEqual([]);
  });

  it.each<[string, Record<string, unknown>, RegExp]>([
    ['a misspelt name', { region: 'eu-central-1' }, /"region".*Known settings: name, regions,/s],
    ['a flag that is neither', { retain: 'no' }, /retain/],
    ['days that CloudWatch Logs does not take', { logRetentionDays: '31' }, /logRetentionDays/],
    ['no region at all', { regions: '' }, /regions/],
    ['a region that is none', { regions: 'europe' }, /must be the name of an AWS region.*regions\[0\]/s],
    ['a region twice', { regions: 'us-east-1,us-east-1' }, /must not name a region twice/],
    ['an unknown log level', { logLevel: 'LOUD' }, /logLevel/],
    ['a name that no stack can have', { name: '1st' }, /must be letters, digits and dashes/],
    ['fewer deliveries at once than Lambda allows', { deliveryConcurrency: '1' }, /deliveryConcurrency/],
    ['more deliveries at once than Lambda allows', { deliveryConcurrency: '1001' }, /deliveryConcurrency/],
    ['to reserve nothing for publishing', { publishConcurrency: '0' }, /publishConcurrency/],
    [
      'an address that no mail reaches',
      { alarmEmails: 'ops' },
      /must be an e-mail address.*alarmEmails\[0\]/s,
    ],
    ['a limit of executions that no AWS account has', { accountConcurrency: '0' }, /accountConcurrency/],
    ['a number that is none', { throttleRate: 'fast' }, /throttleRate/],
    ['a part where whole ones count', { throttleRate: '1.5' }, /throttleRate/],
    [
      'a URL where a host belongs',
      { ownHosts: 'https://queue.example.com/' },
      /must be a host name.*ownHosts\[0\]/s,
    ],
    ['a message that pays its sender', { pricePerMessage: -1 }, /pricePerMessage/],
  ])('refuse %s, by name', (_, context, message) => {
    expect(() => read(context)).toThrow(message);
  });
});

describe('the list of settings in docs/deploy.md', () => {
  const [, section = ''] = readFileSync(join(root, 'docs/deploy.md'), 'utf8').split('\n## Settings\n');
  /** Names and defaults, as the table's first two columns have them; some rows have two of each. */
  const documented = [...section.matchAll(/^\| (`\w+`(?:, `\w+`)*) +\| ([^|]+?) +\|/gm)].flatMap(
    ([, names = '', values = '']) => {
      const several = names.split(', ');
      const defaults = several.length === 1 ? [values] : values.split(', ');
      return several.map((name, at) => [name.replaceAll('`', ''), defaults[at]?.replaceAll('`', '')]);
    },
  );

  it('has every setting, with its default, and no other', () => {
    const defaults = new Map(Object.entries(read({})));
    const shown = (name: string): string => {
      if (name === 'scheduleGroup') return 'the name';
      const value = defaults.get(name);
      return value === undefined ? 'none' : String(value) || 'none';
    };
    expect(documented.toSorted()).toEqual(settingNames.map((name) => [name, shown(name)]).toSorted());
  });
});
