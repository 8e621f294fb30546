/** Both ends of each setting's range, and values in between, against CloudFormation's schemas, which the CDK has. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { App, CloudFormationValidatePlugin } from 'aws-cdk-lib';
import { describe, expect, it } from 'vitest';
import { settingNames } from '../../lib/settings.ts';
import { outFolder } from '../support/synthFolder.ts';
import { synthesize } from './app.ts';
import type { Context } from './variants.ts';

const region = 'eu-central-1';
const inRegion = (...values: readonly string[]): string => values.map((one) => `${region}=${one}`).join();

/** A domain name of 253 characters, the most that DNS allows. */
const longestHost = `${[60, 60, 60, 62].map((length) => 'a'.repeat(length)).join('.')}.aaaa.de`;

const least: Context = {
  name: 'N',
  regions: region,
  retain: 'false',
  pointInTimeRecovery: 'false',
  logLevel: 'FATAL',
  logRetentionDays: '1',
  scheduleGroup: 's',
  throttleRate: '1',
  throttleBurst: '1',
  deliveryConcurrency: '2',
  deliveryMemory: '256',
  longDelivery: 'instances',
  longEnvironments: '1',
  batchingWindow: '0',
  publishConcurrency: '1',
  publishUrl: 'true',
  monitoring: 'essential',
  canary: 'true',
  accountConcurrency: '10',
  countingParts: '1',
  writeCapacity: '1-1',
  readCapacity: '1-1',
  firewall: 'true',
  firewallRate: '10',
  deliveryPorts: '1',
  pricePerMessage: '0',
  clientPatience: '1',
};

const most: Context = {
  name: 'N-1',
  regions: region,
  retain: 'true',
  pointInTimeRecovery: 'true',
  logLevel: 'TRACE',
  logRetentionDays: '9999',
  scheduleGroup: 's'.repeat(64),
  throttleRate: '1000000',
  throttleBurst: '1000000',
  deliveryConcurrency: '1000',
  deliveryMemory: '2925',
  longDelivery: 'instances',
  longEnvironments: '3700',
  batchingWindow: '300',
  publishConcurrency: '100000',
  monitoring: 'true',
  accountConcurrency: '1000000',
  countingParts: '32',
  writeCapacity: '40000-40000',
  readCapacity: '40000-40000',
  firewall: 'true',
  firewallRate: '2000000000',
  domains: inRegion(longestHost),
  certificates: `arn:aws:acm:${region}:111122223333:certificate/0a1b2c3d`,
  hostedZone: `Z${'0'.repeat(31)}`,
  fixedAddresses: inRegion('eipalloc-0a1b2c3d', 'eipalloc-0b1b2c3d', 'eipalloc-0c1b2c3d'),
  deliveryPorts: '65535',
  alarmEmails: `${'a'.repeat(64)}@example.com`,
  pricePerMessage: '1000000',
  clientPatience: '100',
  tracing: 'true',
  gatewayLogRole: 'false',
};

/** A name of medium length. Longer names leave too little room in the functions' variables. */
const odd: Context = {
  ...most,
  name: 'N'.repeat(50),
  scheduleGroup: 's',
  domains: '',
  certificates: '',
  throttleRate: '7',
  throttleBurst: '3',
  deliveryConcurrency: '33',
  deliveryMemory: '513',
  longEnvironments: '19',
  batchingWindow: '7',
  publishConcurrency: '33',
  accountConcurrency: '11',
  countingParts: '7',
  writeCapacity: '3-7',
  readCapacity: '3-7',
  firewallRate: '11',
  pricePerMessage: '0.3',
  clientPatience: '1.5',
  restoredTables: inRegion(`messages:${'m'.repeat(255)}`),
  zones: inRegion('euc1-az1', 'euc1-az2', 'euc1-az3'),
  vpcEndpoints: 'false',
  forEmulator: 'false',
};

/** Settings that are neither numbers nor names of resources, and others whose values are in `variants.ts`. */
const elsewhere = new Set([
  'stage',
  'headerPrefixes',
  'allowedDestinations',
  'destinations',
  'lambdaDestinations',
  'extraCaCertificates',
  'outboundProxy',
  'outboundProxyExcept',
  'ownHosts',
  'vpcs',
  'subnets',
  'securityGroups',
  'routeTables',
]);

const schemas = new CloudFormationValidatePlugin();

/** The faults that CloudFormation's schemas find in the templates of settings. */
function faultsWith(context: Context): string[] {
  const folder = outFolder();
  const stackTemplates = synthesize(context).stacks.map(({ name, region: place, template }) => {
    const templatePath = join(folder, `${name}.json`);
    writeFileSync(templatePath, JSON.stringify(template.toJSON()));
    return { stackConstructPath: name, templatePath, accountId: '111122223333', region: place };
  });
  return schemas
    .validate({ templatePaths: [], stackTemplates, appConstruct: new App() })
    .violations.flatMap(({ severity, ruleName, description, violatingResources }) =>
      violatingResources.map(
        ({ resourceLogicalId }) => `${severity} ${ruleName} ${String(resourceLogicalId)}: ${description}`,
      ),
    );
}

describe('the templates with every setting', () => {
  it.each([
    ['at the least of its range', least],
    ['at the most of its range', most],
    ['in between', odd],
  ])('%s have only values of the types and ranges that CloudFormation declares', (_, context) => {
    expect(faultsWith(context)).toEqual([]);
  });

  it('are tried with each setting, except lists of texts', () => {
    const tried = new Set([least, most, odd].flatMap((context) => Object.keys(context)));
    expect(settingNames.filter((name) => !tried.has(name))).toEqual([...elsewhere]);
  });
});
