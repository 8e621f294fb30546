import type { Template } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { properties, type Resource, resources, synthesize, synthesizeOne } from './app.ts';
import { functionShape, nameOf } from './roles.ts';

const off = synthesizeOne();
const on = synthesizeOne({ publishUrl: 'true' });

const functionsIn = (template: Template) =>
  [...resources(template, 'AWS::Lambda::Function')].map(([id, { Properties }]) => {
    const { Environment } = functionShape.parse(Properties);
    return { id, name: nameOf(Environment.Variables), variables: Environment.Variables };
  });
const publish = functionsIn(on.service).find(({ name }) => name === 'Publish');
const arnOfPublish = { 'Fn::GetAtt': [publish?.id, 'Arn'] };
const [alias] =
  [...resources(on.service, 'AWS::Lambda::Alias')].find(([id]) => id.startsWith('PublishLive')) ?? [];
const arnOfAlias = { Ref: alias };
const urlId = 'PublishLiveFunctionUrlD641DB43';
/** The URL of releases before the alias. */
const formerUrlId = 'PublishFunctionUrlA80392BC';
const hostOf = (id: string) => ({
  'Fn::Select': [2, { 'Fn::Split': ['/', { 'Fn::GetAtt': [id, 'FunctionUrl'] }] }],
});

describe('without the setting publishUrl', () => {
  it('nothing differs from a deployment that does not know it', () => {
    expect(synthesizeOne({ publishUrl: 'false' }).service.toJSON()).toEqual(off.service.toJSON());
    const text = JSON.stringify([off.service.toJSON(), off.management.toJSON(), off.state.toJSON()]);
    expect(text).not.toMatch(/FunctionUrl|AWS::Lambda::Url|PublishUrl/);
  });
});

describe('with the setting publishUrl', () => {
  it('publish has a URL, in each region, and no other function has one', () => {
    const { regions, management } = synthesize({ publishUrl: 'true' });
    management.resourceCountIs('AWS::Lambda::Url', 0);
    for (const { service } of regions) {
      const shared = { AuthType: 'NONE', InvokeMode: 'BUFFERED', TargetFunctionArn: arnOfPublish };
      expect(
        [...resources(service, 'AWS::Lambda::Url')].map(([id, { Properties }]) => [id, Properties]),
      ).toEqual([
        // Another logical id would be another URL, which no client knows.
        [urlId, { ...shared, Qualifier: 'live' }],
        [formerUrlId, shared],
      ]);
    }
  });

  it('anyone may invoke publish through its URL, by the two rights that Lambda requires, and not otherwise', () => {
    const toAll = properties(on.service, 'AWS::Lambda::Permission', z.record(z.string(), z.unknown())).filter(
      ({ Principal }) => Principal === '*',
    );
    expect(toAll).toHaveLength(4);
    for (const FunctionName of [arnOfAlias, arnOfPublish]) {
      expect(toAll).toContainEqual({
        Action: 'lambda:InvokeFunctionUrl',
        FunctionName,
        FunctionUrlAuthType: 'NONE',
        Principal: '*',
      });
      expect(toAll).toContainEqual({
        Action: 'lambda:InvokeFunction',
        FunctionName,
        InvokedViaFunctionUrl: true,
        Principal: '*',
      });
    }
  });

  it('its base URL is an output, without a slash at the end', () => {
    on.service.hasOutput('PublishUrl', { Value: { 'Fn::Join': ['', ['https://', hostOf(urlId)]] } });
  });

  it('every function of the region refuses its hosts from the start, except publish, which learns them', () => {
    for (const { name, variables } of functionsIn(on.service)) {
      const own = JSON.stringify(variables['OWN_HOSTS']);
      const knows = [urlId, formerUrlId].filter((id) => own.includes(JSON.stringify(hostOf(id))));
      expect([name, knows]).toEqual([name, name === 'Publish' ? [] : [urlId, formerUrlId]]);
    }
  });

  it('publish can say where the whole API is, and deliveries where an attempt may be completed', () => {
    for (const { name, variables } of functionsIn(on.service)) {
      const told = JSON.stringify(variables['API_URL'] ?? '').includes('.execute-api.eu-central-1.');
      expect([name, told]).toEqual([name, name === 'Publish' || name.startsWith('Deliver')]);
    }
  });

  it('nothing else is added, and nothing that keeps something is replaced', () => {
    const before = resources(off.service);
    const after = resources(on.service);
    // A version's id includes a hash of the function's variables, which differ.
    const isVersion = ({ Type }: Resource): boolean => Type === 'AWS::Lambda::Version';
    for (const [id, resource] of before) if (!isVersion(resource)) expect([...after.keys()]).toContain(id);
    const added = [...after]
      .filter(([id, resource]) => !before.has(id) && !isVersion(resource))
      .map(([, { Type }]) => Type);
    expect(added.sort()).toEqual([
      ...Array.from({ length: 4 }, () => 'AWS::Lambda::Permission'),
      ...Array.from({ length: 2 }, () => 'AWS::Lambda::Url'),
    ]);
  });
});
