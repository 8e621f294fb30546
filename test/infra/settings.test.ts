import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { App } from 'aws-cdk-lib';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { fixedOf } from '../../lib/names.ts';
import { presets } from '../../lib/presets.ts';
import { mostBatchingWindow } from '../../lambdas/aws/resources.ts';
import { readSettings, settingNames } from '../../lib/settings.ts';
import { blocksOf, documents } from '../support/docs/blocks.ts';
import { cdkContext, root, stacksOf } from './app.ts';

const docs = readFileSync(join(root, 'docs/settings.md'), 'utf8');

const read = (context: Record<string, unknown>) => readSettings(new App({ context }));

describe('the settings of a deployment', () => {
  const inDocuments = documents.flatMap(blocksOf).filter(({ text }) => /^\s*\{\s*"context"/.test(text));

  it.each(inDocuments)('are those that the documents write into `cdk.json`: $at', ({ text }) => {
    const { context } = z.object({ context: z.record(z.string(), z.unknown()) }).parse(JSON.parse(text));
    expect(() => read(context)).not.toThrow();
  });

  it('may be beside what the CDK keeps in the context', () => {
    expect(read({ ...cdkContext, 'aws:cdk:bundling-stacks': ['**'] })).toEqual(read({}));
  });

  it('are the same as text, from the command line, and as JSON, from cdk.json', () => {
    const text = {
      regions: 'eu-west-1, ap-southeast-2',
      retain: 'false',
      logRetentionDays: '7',
      allowedDestinations: '10.0.0.0/8,intranet.example.com',
      destinations: '',
      deliveryConcurrency: '50',
      publishConcurrency: '200',
      pricePerMessage: '0.0002',
    };
    const json = {
      regions: ['eu-west-1', 'ap-southeast-2'],
      retain: false,
      logRetentionDays: 7,
      allowedDestinations: ['10.0.0.0/8', 'intranet.example.com'],
      destinations: [],
      deliveryConcurrency: 50,
      publishConcurrency: 200,
      pricePerMessage: 0.0002,
    };
    expect(read(text)).toEqual(read(json));
    expect(read(text)).toMatchObject(json);
  });

  it.each<[string, Record<string, unknown>, RegExp]>([
    [
      'a misspelt name',
      { region: 'eu-central-1' },
      /region: there is no such setting.*Settings are: stage, name, regions,/s,
    ],
    ['a flag that is neither', { retain: 'no' }, /retain/],
    ['days that CloudWatch Logs does not take', { logRetentionDays: '31' }, /logRetentionDays/],
    ['no region at all', { regions: '' }, /regions/],
    [
      'an invalid region',
      { regions: 'europe' },
      /regions\[0\]: must be the name of an AWS region; given is "europe"/,
    ],
    [
      'a region of another cloud',
      { regions: 'eu-central-1,us-gov-west-1' },
      /^- regions\[1\]: must be a public region of AWS, such as eu-central-1; .* given is "eu-central-1,/m,
    ],
    ['a region twice', { regions: 'us-east-1,us-east-1' }, /must not name a region twice/],
    ['an unknown log level', { logLevel: 'LOUD' }, /logLevel/],
    ['a name that no stack can have', { name: '1st' }, /must be letters, digits and dashes/],
    ['fewer deliveries at once than Lambda allows', { deliveryConcurrency: '1' }, /deliveryConcurrency/],
    ['more deliveries at once than Lambda allows', { deliveryConcurrency: '1001' }, /deliveryConcurrency/],
    [
      'less memory than two messages need',
      { deliveryMemory: '255' },
      /deliveryMemory: .*expected number to be >=256; given is "255"/,
    ],
    ['more memory than Lambda has for slow hosts', { deliveryMemory: '2926' }, /deliveryMemory: .*<=2925/],
    [
      'a batching window that does not fit into the time for which a message is hidden',
      { batchingWindow: String(mostBatchingWindow + 1) },
      new RegExp(`batchingWindow: .*<=${mostBatchingWindow}; given is`),
    ],
    ...(
      [
        [
          '100',
          /writeCapacity: must be the least and the most units a second, such as 100-4000; given is "100"/,
        ],
        ['4000-100', /writeCapacity: must not have a least above its most/],
        ['100-40001', /writeCapacity: must be at most 40000 units, which is DynamoDB's quota for a table/],
      ] as const
    ).map(([value, sentence]): [string, Record<string, unknown>, RegExp] => [
      `capacity that is none: ${value}`,
      { writeCapacity: value, readCapacity: '5-100' },
      sentence,
    ]),
    [
      'capacity for writes only',
      { writeCapacity: '5-100' },
      /readCapacity: is absent, but writeCapacity is set: a table has both provisioned, or none/,
    ],
    [
      'execution environments that are kept where there are no instances',
      { longEnvironments: '1' },
      /longEnvironments: is set, but longDelivery is functions: only managed instances have/,
    ],
    [
      'no execution environment at all, which would deactivate the function',
      { longDelivery: 'instances', longEnvironments: '0' },
      /longEnvironments: .*>=1/,
    ],
    ['instances under another name', { longDelivery: 'servers' }, /longDelivery: .*"functions"\|"instances"/],
    [
      'more security groups than instances take',
      {
        longDelivery: 'instances',
        vpcs: 'eu-central-1=vpc-0a1b2c3d',
        subnets: 'eu-central-1=subnet-0a1b2c3d',
        securityGroups: Array.from({ length: 6 }, (_, at) => `eu-central-1=sg-0a1b2c3${at}`).join(),
      },
      /securityGroups: has more than 5 for eu-central-1, which managed instances \(longDelivery\) do not take/,
    ],
    [
      'an endpoint for logs that do not pass the VPC',
      {
        vpcs: 'eu-central-1=vpc-0a1b2c3d',
        subnets: 'eu-central-1=subnet-0a1b2c3d',
        vpcEndpoints: 'logs',
      },
      /vpcEndpoints: names logs, but longDelivery is functions/,
    ],
    [
      'an endpoint for traces where nothing is traced',
      {
        longDelivery: 'instances',
        vpcs: 'eu-central-1=vpc-0a1b2c3d',
        subnets: 'eu-central-1=subnet-0a1b2c3d',
        vpcEndpoints: 'xray',
      },
      /vpcEndpoints: names xray, but only functions on instances send traces/,
    ],
    [
      'more zones than the instances’ own VPC has',
      {
        longDelivery: 'instances',
        zones: [1, 2, 3, 4].map((at) => `us-east-1=use1-az${at + 3}`).join(),
      },
      /zones: has more than three zones for us-east-1/,
    ],
    ['more parts than a large account has shards', { countingParts: '33' }, /countingParts: .*<=32/],
    ['to reserve nothing for publishing', { publishConcurrency: '0' }, /publishConcurrency/],
    [
      'an address that no mail reaches',
      { alarmEmails: 'ops' },
      /alarmEmails\[0\]: must be an e-mail address/,
    ],
    [
      'addresses that no alarm would be sent to',
      { stage: 'dev', alarmEmails: 'ops@example.com' },
      /alarmEmails: has addresses, but monitoring is off/,
    ],
    [
      'monitoring of another kind',
      { monitoring: 'some' },
      /monitoring: must be true, false or essential; given is "some"/,
    ],
    ['a limit of executions that no AWS account has', { accountConcurrency: '0' }, /accountConcurrency/],
    ['an invalid number', { throttleRate: 'fast' }, /throttleRate/],
    ['a part where whole ones count', { throttleRate: '1.5' }, /throttleRate/],
    [
      'a URL where a host belongs',
      { ownHosts: 'https://queue.example.com/' },
      /ownHosts\[0\]: must be a host name/,
    ],
    ['an invalid proxy', { outboundProxy: 'socks5://proxy.internal' }, /outboundProxy: must be the URL of a/],
    [
      'a proxy without a scheme',
      { outboundProxy: 'proxy.internal:3128' },
      /outboundProxy: must be the URL of a/,
    ],
    ['an invalid exception', { outboundProxyExcept: 'a b' }, /outboundProxyExcept\[0\]: must be a host name/],
    ['an exception too wide', { outboundProxyExcept: '10.0.0.0/33' }, /outboundProxyExcept: has a network/],
    [
      'an invalid function',
      { lambdaDestinations: 'arn:aws:lambda:eu-central-1:111122223333:layer:orders' },
      /lambdaDestinations\[0\]: must be the ARN of a Lambda function/,
    ],
    [
      'an invalid destination',
      { destinations: 'arn:aws:events:eu-central-1:111122223333:rule/orders' },
      /destinations\[0\]: must be the ARN of an SQS queue, an SNS topic, an EventBridge bus or a Lambda function/,
    ],
    ...[
      ['sqs:*:111122223333:Svc-account-changes', 'queue'],
      ['sns:*:111122223333:S*', 'topic'],
      ['lambda:*:111122223333:function:*', 'function'],
    ].map(([pattern, kind]): [string, Record<string, unknown>, RegExp] => [
      `destinations that could be its own: ${String(pattern)}`,
      { destinations: `arn:aws:${String(pattern)}` },
      new RegExp(`destinations: .* could be a ${String(kind)} of the service itself`),
    ]),
    [
      'functions that could be its own',
      { lambdaDestinations: 'arn:aws:lambda:*:111122223333:function:S*' },
      /lambdaDestinations: .* could be a function of the service itself/,
    ],
    [
      'more functions than the environment has room for',
      {
        lambdaDestinations: Array.from(
          { length: 20 },
          (_, at) => `arn:aws:lambda:*:111122223333:function:orders-${at}-*`,
        ),
      },
      /lambdaDestinations: has more than 1000 characters/,
    ],
    ['a stage that there is not', { stage: 'test' }, /stage: .*"dev"\|"prod"; given is "test"/],
    ['a domain of another region', { domains: 'eu-west-3=a.example.com' }, /domains: names eu-west-3/],
    [
      'a domain without a certificate in its region',
      {
        domains: 'us-east-1=a.example.com',
        certificates: 'arn:aws:acm:eu-central-1:111122223333:certificate/a',
      },
      /certificates: must have one certificate of the region us-east-1/,
    ],
    [
      'a base path that is one of the API’s own',
      { domains: 'us-east-1=a.example.com/v2' },
      /domains\[0\]: .* such as/,
    ],
    ['a domain that is a URL', { domains: 'us-east-1=https://a.example.com' }, /domains\[0\]: .* such as/],
    ['an id of a VPC without its region', { vpcs: 'vpc-0a1b2c3d' }, /vpcs\[0\]: .*eu-central-1=vpc-0a1b2c3d/],
    ['a VPC without subnets', { vpcs: 'us-east-1=vpc-0a1b2c3d' }, /subnets: must name the subnets/],
    ['subnets without a VPC', { subnets: 'us-east-1=subnet-0a1b2c3d' }, /subnets: .*has no VPC/],
    [
      'endpoints without route tables',
      { vpcs: 'us-east-1=vpc-0a1b2c3d', subnets: 'us-east-1=subnet-0a1b2c3d', vpcEndpoints: 'true' },
      /routeTables: .*route tables/,
    ],
    ['a canary that no alarm watches', { canary: 'true', monitoring: 'false' }, /canary: needs alarms/],
    [
      'a canary where there is no CodeDeploy',
      { canary: 'true', forEmulator: 'true' },
      /canary: needs CodeDeploy/,
    ],
    [
      'an endpoint of no service',
      { vpcEndpoints: 'sqs,ses' },
      /vpcEndpoints: must be true, false, or a list of: dynamodb, s3,/,
    ],
    [
      'an endpoint of Lambda where messages go to no function',
      { vpcEndpoints: 'sqs,lambda' },
      /vpcEndpoints: names lambda, but lambdaDestinations/,
    ],
    [
      'an endpoint of SNS where messages go to no topic',
      { vpcEndpoints: 'sns', destinations: 'arn:aws:sqs:*:111122223333:orders' },
      /vpcEndpoints: names sns, but destinations has no topic/,
    ],
    [
      'a zone by its letter',
      { fixedAddresses: 'us-east-1=eipalloc-0a1b2c3d', zones: 'us-east-1=us-east-1a' },
      /zones\[0\]: .*such as eu-central-1=euc1-az2/,
    ],
    [
      'fewer zones than addresses',
      {
        fixedAddresses: 'us-east-1=eipalloc-0a1b2c3d,us-east-1=eipalloc-0b1b2c3d',
        zones: 'us-east-1=use1-az1',
      },
      /zones: must name one zone for each of the 2 fixedAddresses of us-east-1, and names 1/,
    ],
    [
      'a zone twice',
      {
        fixedAddresses: 'us-east-1=eipalloc-0a1b2c3d,us-east-1=eipalloc-0b1b2c3d',
        zones: 'us-east-1=use1-az1,us-east-1=use1-az1',
      },
      /zones: must not name a zone of us-east-1 twice/,
    ],
    [
      'a zone without Lambda',
      { fixedAddresses: 'us-east-1=eipalloc-0a1b2c3d', zones: 'us-east-1=use1-az3' },
      /zones: must not name use1-az3: Lambda/,
    ],
    ['zones of another region', { zones: 'eu-west-1=euw1-az1' }, /zones: names eu-west-1/],
    [
      'two VPCs in a region',
      { vpcs: 'us-east-1=vpc-0a1b2c3d,us-east-1=vpc-0b1b2c3d', subnets: 'us-east-1=subnet-0a1b2c3d' },
      /vpcs: has two VPCs/,
    ],
    [
      'a fixed address in a VPC that has its own',
      {
        vpcs: 'us-east-1=vpc-0a1b2c3d',
        subnets: 'us-east-1=subnet-0a1b2c3d',
        fixedAddresses: 'us-east-1=eipalloc-0a1b2c3d',
      },
      /fixedAddresses: .*its own NAT gateway/,
    ],
    [
      'a stage that keeps no data, for a name that may be that of a deployment with data',
      { stage: 'dev', name: 'Svc' },
      /Svc may be the name of a deployment that does\. Leave name out, which makes it SvcDev; or set retain as well/,
    ],
    ['an invalid restored table', { restoredTables: 'us-east-1=usage:x' }, /restoredTables\[0\]/],
    ['an invalid port', { deliveryPorts: '443,0' }, /deliveryPorts\[1\]/],
    ['a rate that WAF does not know', { firewallRate: '9' }, /firewallRate/],
    ['a message that pays its sender', { pricePerMessage: -1 }, /pricePerMessage/],
  ])('refuse %s, by name', (_, context, message) => {
    expect(() => read(context)).toThrow(message);
  });
});

describe('the variables of the functions', () => {
  const synthesize = (allowed: number, more: Record<string, string> = {}) =>
    stacksOf({ regions: 'eu-central-1', allowedDestinations: 'a'.repeat(allowed), ...more });

  it('may have 4 KB, as "Lambda quotas" says, and not a byte more', () => {
    let bytes = 0;
    try {
      synthesize(4_000);
    } catch (error) {
      bytes = Number(/have (\d+) bytes/.exec(String(error))?.[1]);
    }
    const room = 4_000 - (bytes - 4_096);
    expect(room).toBeGreaterThan(1_000);
    expect(() => synthesize(room)).not.toThrow();
    expect(() => synthesize(room + 1)).toThrow(
      /have 4097 bytes, and Lambda takes 4096\. Shorten what takes most: allowedDestinations \(/,
    );
  });

  it('are refused if settings that are right alone take too much together, with the names of these', () => {
    const regions = ['eu-central-1', 'ap-southeast-2', 'us-east-1'];
    const name = 'a-long-name-of-a-deployment';
    const arn = (at: number) => `arn:aws:sqs:eu-central-1:111122223333:orders-of-the-shop-${at}-*`;
    const context = {
      name,
      regions: regions.join(),
      domains: regions.map((region) => `${region}=queue.${region}.example.com/messages`).join(),
      certificates: regions.map((region) => `arn:aws:acm:${region}:111122223333:certificate/a`).join(),
      destinations: Array.from({ length: 12 }, (_, at) => arn(at)).join(),
      allowedDestinations: '10.0.0.0/8,172.16.0.0/12,192.168.0.0/16,100.64.0.0/10',
      outboundProxy: 'http://user:password@proxy.internal.example.com:3128',
      publishUrl: 'true',
    };
    expect(() => read(context)).not.toThrow();
    expect(() => stacksOf(context)).toThrow(
      /Lambda takes 4096\. Shorten what takes most: .*\bname \(.*destinations \(/,
    );
  });
});

describe('a stage', () => {
  it.each(Object.entries(presets))('%s sets what it says, and nothing else', (stage, preset) => {
    expect(read({ stage })).toEqual({ ...read({}), stage, ...preset });
  });

  it('is overridden by explicit settings', () => {
    expect(read({ stage: 'dev', retain: 'true', deliveryConcurrency: '7' })).toEqual({
      ...read({ stage: 'dev' }),
      retain: true,
      deliveryConcurrency: 7,
    });
  });

  it('may have any deployment’s name if it is set whether that keeps its data', () => {
    expect(read({ stage: 'dev', name: 'Acme', retain: 'true' })).toMatchObject({
      name: 'Acme',
      retain: true,
    });
    expect(read({ stage: 'dev', name: 'Acme', retain: 'false' })).toMatchObject({ retain: false });
  });

  it('has its values in docs/settings.md', () => {
    const [, section = ''] = docs.split('\n## Stages\n');
    const rows = [...section.matchAll(/^\| `(\w+)` +\| `([^`]+)` +\| `([^`]+)` +\| [^|]+ \|$/gm)];
    expect(rows.map(([, name, dev, prod]) => [name, dev, prod])).toEqual(
      Object.entries(presets.dev).map(([name, value]) => [
        name,
        String(value),
        String(new Map<string, unknown>(Object.entries(presets.prod)).get(name)),
      ]),
    );
  });
});

describe('the list of settings in docs/settings.md', () => {
  const [, settingsOn = ''] = docs.split('\n## Settings\n');
  const [all = ''] = settingsOn.split('\n## ');
  const sections = all.split('\n### ').slice(1);
  /** Names and defaults, as in a heading and the sentence below it. Some headings have several of each. */
  const documented = sections.flatMap((section) => {
    const [, names = '', values = ''] = /^(.+)\n\nDefault: (.+?)\.\s/.exec(section) ?? [];
    const several = names.split(', ');
    const defaults = several.length === 1 ? [values] : values.split(', ');
    return several.map((name, at) => [name.replaceAll('`', ''), defaults[at]?.replaceAll('`', '')]);
  });

  it('says which settings are fixed after the first deployment', () => {
    const fixed = sections
      .filter((section) => /\*\*fixed\*\*/i.test(section))
      .map((section) => /`(\w+)`/.exec(section)?.[1]);
    expect(fixed).toEqual(['name', ...Object.keys(fixedOf(read({})))]);
  });

  it('has exactly the settings, with their defaults', () => {
    const defaults = new Map(Object.entries(read({})));
    const shown = (name: string): string => {
      if (name === 'scheduleGroup') return 'the name';
      if (name === 'pointInTimeRecovery') return 'as retain';
      const value = defaults.get(name);
      return value === undefined ? 'none' : String(value) || 'none';
    };
    expect(documented.toSorted()).toEqual(settingNames.map((name) => [name, shown(name)]).toSorted());
  });
});
