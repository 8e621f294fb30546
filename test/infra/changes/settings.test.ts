/**
 * Settings that an operator changes on a deployment. Templates take seconds to make, and few settings touch the same resource,
 * so many are changed at once.
 */
import { join } from 'node:path';
import { App } from 'aws-cdk-lib';
import { describe, expect, it } from 'vitest';
import { fixedOf } from '../../../lib/names.ts';
import { readSettings, settingNames } from '../../../lib/settings.ts';
import {
  cdkContext,
  everythingOn,
  fixedAddresses,
  resources,
  root,
  synthesize,
  synthesizeOne,
} from '../app.ts';
import { type Deployed, deployedOf, deploymentOrder, losses, refusals } from './deployed.ts';

type Context = Readonly<Record<string, string>>;

const oneRegion: Context = { regions: 'eu-central-1' };
/** Every setting that may change, with a value other than the default, in the operator's VPC. */
const changed: Context = {
  ...everythingOn,
  restoredTables: 'eu-central-1=messages:Svc-messages-restored',
  logLevel: 'DEBUG',
  logRetentionDays: '9999',
  headerPrefixes: 'Svc',
  allowedDestinations: '10.0.0.0/8',
  destinations: 'arn:aws:sqs:eu-central-1:111122223333:orders',
  lambdaDestinations: 'arn:aws:lambda:eu-central-1:111122223333:function:orders',
  extraCaCertificates: join(root, 'test/support/certificates/authority.pem'),
  outboundProxy: 'http://proxy.example.com:3128',
  outboundProxyExcept: '10.0.0.0/8,internal.example',
  ownHosts: 'proxy.example.com',
  throttleRate: '1',
  throttleBurst: '1',
  deliveryConcurrency: '2',
  deliveryMemory: '256',
  batchingWindow: '1',
  countingParts: '7',
  writeCapacity: '10-4000',
  readCapacity: '10-2000',
  firewall: 'true',
  firewallRate: '10',
  securityGroups: 'eu-central-1=sg-0a1b2c3d',
  deliveryPorts: '443',
  pricePerMessage: '0',
  clientPatience: '2',
  accountConcurrency: '10',
  gatewayLogRole: 'false',
  forEmulator: 'true',
  canary: 'false',
};
/** The same again, if a third value makes other resources. */
const changedAgain: Context = {
  ...everythingOn,
  ...fixedAddresses,
  stage: 'prod',
  logRetentionDays: '1',
  domains: 'eu-central-1=other.example.com,management=admin.example.com',
};
/** Settings that give something up, and what. */
const givenUp: Readonly<Record<string, RegExp>> = {
  pointInTimeRecovery: /is no longer restorable$/,
  monitoring: /^AWS::SNS::Topic MonitoringTopic\w+ is gone$/,
};
/** The log of managed instances is deleted with them. The log of their functions stays. */
const logOfInstances = /^AWS::Logs::LogGroup InstancesLog\w+ is gone$/;
const givingUp: Context = { ...oneRegion, pointInTimeRecovery: 'false', monitoring: 'false' };

const deployed = (context: Context): Deployed => deployedOf(synthesize(context).stacks);

function effects(from: Context, to: Context): { readonly refused: string[]; readonly lost: string[] } {
  const [before, after] = [deployed(from), deployed(to)];
  const order = deploymentOrder(after);
  return { refused: refusals(before, after, order), lost: losses(before, after, order) };
}

const inBothDirections = (pairs: readonly (readonly [title: string, Context, Context])[]) =>
  pairs.flatMap(([title, one, other]) => [
    [`to ${title}`, one, other] as const,
    [`back from ${title}`, other, one] as const,
  ]);

describe('a change of settings', () => {
  it.each(
    inBothDirections([
      ['other values of all settings', oneRegion, changed],
      ['further values', oneRegion, changedAgain],
      ['further values from others', changed, changedAgain],
      ['a second region', oneRegion, {}],
      ['another deployment: the stage dev', oneRegion, { ...oneRegion, stage: 'dev' }],
      ['another deployment: by its name', oneRegion, { ...oneRegion, name: 'Other' }],
    ]),
  )('%s loses nothing, and CloudFormation accepts it', (_, from, to) => {
    const { refused, lost } = effects(from, to);
    expect(refused).toEqual([]);
    expect(lost.filter((one) => !logOfInstances.test(one))).toEqual([]);
  });

  it('from functions to managed instances and back keeps each queue, and what reads from it', () => {
    const [functions, instances] = [{}, { longDelivery: 'instances' }].map((context) =>
      resources(synthesizeOne(context).service),
    );
    if (functions === undefined || instances === undefined) throw new Error('Nothing was synthesized.');
    const mappings = [...functions].filter(([, { Type }]) => Type === 'AWS::Lambda::EventSourceMapping');
    expect(mappings).toHaveLength(6);
    for (const [id, { Properties }] of mappings)
      // A mapping with another queue would be another mapping.
      expect(instances.get(id)?.Properties['EventSourceArn']).toEqual(Properties['EventSourceArn']);
    // Lambda refuses to change a function's compute type.
    const onInstances = [...instances].filter(
      ([, { Properties }]) => Properties['CapacityProviderConfig'] !== undefined,
    );
    expect(onInstances).toHaveLength(2);
    for (const [id] of onInstances) expect(functions.has(id)).toBe(false);
    expect(effects(oneRegion, { ...oneRegion, longDelivery: 'instances' }).lost).toEqual([]);
    const back = effects({ ...oneRegion, longDelivery: 'instances' }, oneRegion).lost;
    expect(back).toEqual([expect.stringMatching(logOfInstances)]);
  });

  it('that gives something up gives up only that', () => {
    const { refused, lost } = effects(oneRegion, givingUp);
    expect(refused).toEqual([]);
    for (const what of Object.values(givenUp)) expect(lost.some((one) => what.test(one))).toBe(true);
    expect(lost.filter((one) => !Object.values(givenUp).some((what) => what.test(one)))).toEqual([]);
    expect(effects(givingUp, oneRegion)).toEqual({ refused: [], lost: [] });
  });

  it.each([
    ['the group of schedules', 'scheduleGroup', oneRegion, { ...oneRegion, scheduleGroup: 'Other' }],
    [
      'the group of schedules to the account’s',
      'scheduleGroup',
      oneRegion,
      { ...oneRegion, scheduleGroup: 'default' },
    ],
    ['the protection of data', 'retain', oneRegion, { ...oneRegion, retain: 'false' }],
    ['the first region', 'regions', {}, { regions: 'us-east-1,eu-central-1' }],
  ] as const)(
    'that removes %s is refused by CloudFormation, by the name of the setting',
    (_, setting, from, to) => {
      const [before, after] = [deployed(from), deployed(to)];
      const [first = ''] = deploymentOrder(after);
      expect(refusals(before, after, [first])).toContain(
        `Cannot update or delete export ${first}:${setting} as it is in use by ${first.replace('State', 'Service')}`,
      );
    },
  );

  it('may protect data later', () => {
    expect(effects({ ...oneRegion, retain: 'false' }, oneRegion)).toEqual({ refused: [], lost: [] });
  });

  it('is tried with another value for every setting', () => {
    const tried = new Set([changed, changedAgain, givingUp].flatMap((context) => Object.keys(context)));
    const settings = readSettings(new App({ context: cdkContext }));
    const elsewhere = ['name', ...Object.keys(fixedOf(settings))];
    expect([...new Set([...tried, ...elsewhere])].sort()).toEqual([...settingNames].sort());
  });
});
