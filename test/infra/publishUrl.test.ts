import type { Template } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { properties, resources, synthesize, synthesizeOne } from './app.ts';
import { functionShape, nameOf } from './roles.ts';
import { elsewhere } from './variants.ts';

const on = synthesizeOne(elsewhere);

const functionsIn = (template: Template) =>
  [...resources(template, 'AWS::Lambda::Function')].map(([id, { Properties }]) => {
    const { Environment } = functionShape.parse(Properties);
    return { id, name: nameOf(Environment.Variables), variables: Environment.Variables };
  });
const publish = functionsIn(on.service).find(({ name }) => name === 'Publish');
const [alias] =
  [...resources(on.service, 'AWS::Lambda::Alias')].find(([id]) => id.startsWith('PublishLive')) ?? [];
const urlId = 'PublishLiveFunctionUrlD641DB43';
const hostOf = (id: string) => ({
  'Fn::Select': [2, { 'Fn::Split': ['/', { 'Fn::GetAtt': [id, 'FunctionUrl'] }] }],
});

it.each([{ publishUrl: 'false' }, { firewall: 'true' }, { regions: 'eu-central-2' }])(
  'With the settings %j there is none',
  (context) => {
    const { service, management, state } = synthesizeOne(context);
    const text = JSON.stringify([service, management, state].map((template): unknown => template.toJSON()));
    expect(text).not.toMatch(/FunctionUrl|AWS::Lambda::Url|PublishUrl/);
  },
);

describe('by default', () => {
  it('publish has a URL, in each region, and no other function has one', () => {
    const { regions, management } = synthesize(elsewhere);
    management.resourceCountIs('AWS::Lambda::Url', 0);
    for (const { service } of regions) {
      const TargetFunctionArn = { 'Fn::GetAtt': [publish?.id, 'Arn'] };
      const shared = { AuthType: 'NONE', InvokeMode: 'BUFFERED', TargetFunctionArn };
      expect(
        [...resources(service, 'AWS::Lambda::Url')].map(([id, { Properties }]) => [id, Properties]),
      ).toEqual([
        // Another logical id would be another URL, which no client knows.
        [urlId, { ...shared, Qualifier: 'live' }],
      ]);
    }
  });

  it('anyone may invoke publish through its URL, by the two rights that Lambda requires, and not otherwise', () => {
    const toAll = properties(on.service, 'AWS::Lambda::Permission', z.record(z.string(), z.unknown())).filter(
      ({ Principal }) => Principal === '*',
    );
    const shared = { FunctionName: { Ref: alias }, Principal: '*' };
    expect(toAll).toHaveLength(2);
    expect(toAll).toContainEqual({
      ...shared,
      Action: 'lambda:InvokeFunctionUrl',
      FunctionUrlAuthType: 'NONE',
    });
    expect(toAll).toContainEqual({ ...shared, Action: 'lambda:InvokeFunction', InvokedViaFunctionUrl: true });
  });

  it('its base URL is an output, without a slash at the end', () => {
    on.service.hasOutput('PublishUrl', { Value: { 'Fn::Join': ['', ['https://', hostOf(urlId)]] } });
  });

  it('every function of the region refuses its hosts from the start, except publish, which learns them', () => {
    for (const { name, variables } of functionsIn(on.service)) {
      const own = JSON.stringify(variables['OWN_HOSTS']);
      const knows = own.includes(JSON.stringify(hostOf(urlId)));
      expect([name, knows]).toEqual([name, name !== 'Publish']);
    }
  });

  it('publish knows the generated address of the API, and deliveries where an attempt may be completed', () => {
    for (const { name, variables } of functionsIn(on.service)) {
      const told = variables['API_URL'] === 'https://example.com/queue';
      expect([name, told]).toEqual([name, name.startsWith('Deliver')]);
      if (name === 'Publish') expect(JSON.stringify(variables['API_URL'])).toMatch(/execute-api.*\/api"/);
    }
  });
});
