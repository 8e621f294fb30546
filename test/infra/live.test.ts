/** The aliases by which functions are invoked, and what moves them. */
import { Match, type Template } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { alarmList } from '../../lib/monitoring/alarmTable.ts';
import {
  aliasReference,
  properties,
  reference,
  resources,
  stacksOf,
  synthesizeAccounts,
  synthesizeOne,
} from './app.ts';
import { functionsOf } from './roles.ts';
import { elsewhere, everythingOn, oneRegion, otherCertificates, otherValues } from './variants.ts';

const { service, management } = synthesizeOne(elsewhere);

const aliasShape = z.object({
  Name: z.literal('live'),
  FunctionName: reference,
  FunctionVersion: z.object({ 'Fn::GetAtt': z.tuple([z.string(), z.literal('Version')]) }),
});
const aliasesOf = (template: Template) =>
  [...resources(template, 'AWS::Lambda::Alias')].map(([id, { Properties }]) => ({
    id,
    ...aliasShape.parse(Properties),
  }));

/** The resources that invoke functions, with the property that names one. */
const invokers: Readonly<Record<string, string>> = {
  'AWS::Lambda::EventSourceMapping': 'FunctionName',
  'AWS::Lambda::Permission': 'FunctionName',
};

describe.each<[string, Template]>([
  ['a region', service],
  ['the management API', management],
])('the functions of %s', (_, template) => {
  it('each have an alias, of a version of the same function', () => {
    const aliases = aliasesOf(template);
    expect(aliases).toHaveLength(functionsOf(template).length);
    const versions = resources(template, 'AWS::Lambda::Version');
    for (const { FunctionName, FunctionVersion } of aliases) {
      const version = versions.get(FunctionVersion['Fn::GetAtt'][0]);
      expect(z.object({ FunctionName: reference }).parse(version?.Properties)).toEqual({ FunctionName });
    }
  });

  it('are only invoked by their aliases', () => {
    const aliases = new Set(aliasesOf(template).map(({ id }) => id));
    for (const [type, property] of Object.entries(invokers)) {
      for (const [id, { Properties }] of resources(template, type)) {
        const { [property]: invoked } = z.record(z.string(), z.unknown()).parse(Properties);
        expect([id, aliases.has(aliasReference.parse(invoked))]).toEqual([id, true]);
      }
    }
  });

  it('keep the versions of former releases, on which something may still run', () => {
    for (const { DeletionPolicy, UpdateReplacePolicy } of resources(
      template,
      'AWS::Lambda::Version',
    ).values())
      // A version of a failed deployment is deleted, because Lambda publishes the same code only once.
      expect([DeletionPolicy, UpdateReplacePolicy]).toEqual(['RetainExceptOnCreate', 'Retain']);
  });

  it('may be invoked by the API before its stage names them', () => {
    const [stage] = [...resources(template, 'AWS::ApiGateway::Stage').values()];
    const permissions = [...resources(template, 'AWS::Lambda::Permission')].filter(
      ([, { Properties }]) => Properties['Principal'] === 'apigateway.amazonaws.com',
    );
    expect(permissions.length).toBeGreaterThan(1);
    expect(stage?.DependsOn).toEqual(expect.arrayContaining(permissions.map(([id]) => id)));
  });
});

it('another version is another configuration, even if only texts of the template differ: Lambda publishes none twice', () => {
  const publishIn = (template: Template) => ({
    version: aliasesOf(template).find(({ id }) => id.startsWith('PublishLive'))?.FunctionVersion,
    hash: functionsOf(template).find(({ name }) => name === 'Publish')?.Environment.Variables[
      'TEMPLATE_HASH'
    ],
  });
  const inKnownAccount = stacksOf(oneRegion, '111122223333').find(({ name }) => name.endsWith('-Service'));
  if (inKnownAccount === undefined) throw new Error('There is no stack.');
  const [anywhere, here] = [synthesizeOne().service, inKnownAccount.template].map(publishIn);
  expect(here?.version).not.toEqual(anywhere?.version);
  expect(here?.hash).not.toEqual(anywhere?.hash);
});

it('the function that CloudFormation invokes has none: a resource’s service token cannot change', () => {
  const accounts = synthesizeAccounts();
  accounts.resourceCountIs('AWS::Lambda::Alias', 0);
  const [provision] = resources(accounts, 'AWS::Lambda::Function').keys();
  accounts.hasResourceProperties('Custom::SvcAccount', {
    ServiceToken: { 'Fn::GetAtt': [provision, 'Arn'] },
  });
});

it('other certificates make another version: CloudFormation does not compare layers', () => {
  const [authority, other] = [otherValues, otherCertificates].map(
    (context) =>
      aliasesOf(synthesizeOne(context).service).find(({ id }) => id.startsWith('DeliverShort'))
        ?.FunctionVersion,
  );
  expect(authority).toBeDefined();
  expect(other).not.toEqual(authority);
});

describe('with the setting canary', () => {
  const { service: canary, management: managing } = synthesizeOne(elsewhere);
  const essential = alarmList.flatMap(([name, { essential: is }]) => (is === true ? [name] : []));

  it('CodeDeploy assumes its role only for this AWS account ("Cross-service confused deputy prevention")', () => {
    canary.hasResourceProperties('AWS::IAM::Role', {
      AssumeRolePolicyDocument: {
        Statement: [
          {
            Principal: { Service: 'codedeploy.amazonaws.com' },
            Condition: { StringEquals: { 'aws:SourceAccount': { Ref: 'AWS::AccountId' } } },
          },
        ],
      },
    });
  });

  it('a tenth of the invocations of the functions that messages pass goes to a new version for five minutes', () => {
    const groups = resources(canary, 'AWS::CodeDeploy::DeploymentGroup');
    const shifted = ['CountOutcomes', 'DeliverAlone', 'DeliverLong', 'DeliverShort', 'DeliverSlow'];
    // CodeDeploy throttles 15 groups in a stack.
    expect([...groups.keys()].map((id) => id.replace(/Canary\w{8}$/, '')).sort()).toEqual([
      ...shifted,
      'Fire',
      'FollowAccount',
      'Publish',
    ]);
    canary.allResourcesProperties('AWS::CodeDeploy::DeploymentGroup', {
      DeploymentConfigName: 'CodeDeployDefault.LambdaCanary10Percent5Minutes',
      AutoRollbackConfiguration: {
        Enabled: true,
        Events: ['DEPLOYMENT_FAILURE', 'DEPLOYMENT_STOP_ON_ALARM'],
      },
    });
    const policies = [...resources(canary, 'AWS::Lambda::Alias').keys()].flatMap(
      (id) => updatePolicy.parse(canary.toJSON()).Resources[id]?.UpdatePolicy ?? [],
    );
    expect(
      policies
        .map(({ CodeDeployLambdaAliasUpdate }) => CodeDeployLambdaAliasUpdate.DeploymentGroupName.Ref)
        .sort(),
    ).toEqual([...groups.keys()].sort());
  });

  it.each([
    ['true', synthesizeOne(everythingOn).service],
    ['essential', canary],
  ])('exactly the essential alarms watch it, with monitoring=%s', (__, template) => {
    const alarms = resources(template, 'AWS::CloudWatch::Alarm');
    const watching = properties(
      template,
      'AWS::CodeDeploy::DeploymentGroup',
      z.object({
        AlarmConfiguration: z.object({
          Enabled: z.literal(true),
          Alarms: z.array(z.object({ Name: z.object({ Ref: z.string() }) })),
        }),
      }),
    );
    expect(watching.length).toBeGreaterThan(5);
    for (const { AlarmConfiguration } of watching) {
      const names = AlarmConfiguration.Alarms.map(
        ({ Name }) => alarms.get(Name.Ref)?.Properties['AlarmName'],
      );
      expect(names.map((name) => String(name).replace(/^\w+-/, '')).sort()).toEqual([...essential].sort());
    }
  });

  it('the management API is changed at once: it gets few requests, and other alarms watch it', () => {
    managing.resourceCountIs('AWS::CodeDeploy::DeploymentGroup', 0);
  });

  it('without it there are no CodeDeploy resources', () => {
    const { service: plain } = synthesizeOne();
    plain.resourceCountIs('AWS::CodeDeploy::DeploymentGroup', 0);
    plain.allResources('AWS::Lambda::Alias', { UpdatePolicy: Match.absent() });
  });
});

const updatePolicy = z.object({
  Resources: z.record(
    z.string(),
    z.looseObject({
      UpdatePolicy: z
        .object({
          CodeDeployLambdaAliasUpdate: z.object({
            ApplicationName: z.object({ Ref: z.string() }),
            DeploymentGroupName: z.object({ Ref: z.string() }),
          }),
        })
        .optional(),
    }),
  ),
});
