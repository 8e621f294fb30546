/** Settings that an operator changes on a deployment. */
import { App } from 'aws-cdk-lib';
import { describe, expect, it } from 'vitest';
import { fixedOf } from '../../../lib/names.ts';
import { readSettings, settingNames } from '../../../lib/settings.ts';
import { cdkContext, firstOf, resources, synthesize, synthesizeOne } from '../app.ts';
import {
  type Context,
  elsewhere,
  emulated,
  instances,
  oneRegion,
  otherValues,
  reduced,
  unprotected,
  withAddresses,
} from '../variants.ts';
import { type Deployed, deployedOf, deploymentOrder, losses, refusals } from './deployed.ts';

/** Settings that delete something when they are changed, and what they delete. */
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
      ['other values of all settings', oneRegion, otherValues],
      ['further values', oneRegion, withAddresses],
      ['further values from others', otherValues, withAddresses],
      ['a second region', oneRegion, {}],
      ['another deployment: the stage dev', oneRegion, reduced],
      ['another deployment: by its name', oneRegion, elsewhere],
    ]),
  )('%s loses nothing, and CloudFormation accepts it', (_, from, to) => {
    const { refused, lost } = effects(from, to);
    expect(refused).toEqual([]);
    expect(lost.filter((one) => !logOfInstances.test(one))).toEqual([]);
  });

  it('from functions to managed instances and back keeps each queue, and what reads from it', () => {
    const functions = resources(synthesizeOne().service);
    const onInstances = resources(firstOf(synthesize(instances)).service);
    const mappings = [...functions].filter(([, { Type }]) => Type === 'AWS::Lambda::EventSourceMapping');
    expect(mappings).toHaveLength(6);
    for (const [id, { Properties }] of mappings)
      // With another queue it would be another mapping.
      expect(onInstances.get(id)?.Properties['EventSourceArn']).toEqual(Properties['EventSourceArn']);
    // Lambda refuses to change a function's compute type.
    const placed = [...onInstances].filter(
      ([, { Properties }]) => Properties['CapacityProviderConfig'] !== undefined,
    );
    expect(placed).toHaveLength(2);
    for (const [id] of placed) expect(functions.has(id)).toBe(false);
    expect(effects({}, instances).lost).toEqual([]);
    const back = effects(instances, {}).lost;
    expect(back).toHaveLength(2);
    expect(back.filter((one) => !logOfInstances.test(one))).toEqual([]);
  });

  it('that gives something up gives up only that', () => {
    const { refused, lost } = effects(oneRegion, givingUp);
    expect(refused).toEqual([]);
    for (const what of Object.values(givenUp)) expect(lost.some((one) => what.test(one))).toBe(true);
    expect(lost.filter((one) => !Object.values(givenUp).some((what) => what.test(one)))).toEqual([]);
    expect(effects(givingUp, oneRegion)).toEqual({ refused: [], lost: [] });
  });

  it.each([
    ['the group of schedules', 'scheduleGroup', oneRegion, emulated],
    ['the protection of data', 'retain', oneRegion, unprotected],
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
    expect(effects(unprotected, oneRegion)).toEqual({ refused: [], lost: [] });
  });

  it('is tried with another value for every setting', () => {
    const tried = new Set([otherValues, withAddresses, givingUp].flatMap((context) => Object.keys(context)));
    const settings = readSettings(new App({ context: cdkContext }));
    const elsewhere = ['name', ...Object.keys(fixedOf(settings))];
    expect([...new Set([...tried, ...elsewhere])].sort()).toEqual([...settingNames].sort());
  });
});
