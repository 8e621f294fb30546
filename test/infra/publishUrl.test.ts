import type { Template } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { properties, resources, synthesize, synthesizeOne } from './app.ts';
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
const urlId = 'PublishFunctionUrlA80392BC';
const host = { 'Fn::Select': [2, { 'Fn::Split': ['/', { 'Fn::GetAtt': [urlId, 'FunctionUrl'] }] }] };

describe('without the setting publishUrl', () => {
  it('nothing is different from a deployment that does not know it', () => {
    expect(synthesizeOne({ publishUrl: 'false' }).service.toJSON()).toEqual(off.service.toJSON());
    const text = JSON.stringify([off.service.toJSON(), off.management.toJSON(), off.state.toJSON()]);
    expect(text).not.toMatch(/FunctionUrl|AWS::Lambda::Url|PublishUrl|API_URL/);
  });
});

describe('with the setting publishUrl', () => {
  it('publish has a URL, in each region, and no other function has one', () => {
    const { regions, management } = synthesize({ publishUrl: 'true' });
    management.resourceCountIs('AWS::Lambda::Url', 0);
    for (const { service } of regions) {
      expect([...resources(service, 'AWS::Lambda::Url')]).toEqual([
        [
          // A URL with another logical id is another URL, which no client knows.
          urlId,
          expect.objectContaining({
            Properties: { AuthType: 'NONE', InvokeMode: 'BUFFERED', TargetFunctionArn: arnOfPublish },
          }),
        ],
      ]);
    }
  });

  it('everybody may invoke publish through its URL, by both rights that Lambda asks for, and not otherwise', () => {
    const toAll = properties(on.service, 'AWS::Lambda::Permission', z.record(z.string(), z.unknown())).filter(
      ({ Principal }) => Principal === '*',
    );
    expect(toAll).toHaveLength(2);
    expect(toAll).toContainEqual({
      Action: 'lambda:InvokeFunctionUrl',
      FunctionName: arnOfPublish,
      FunctionUrlAuthType: 'NONE',
      Principal: '*',
    });
    expect(toAll).toContainEqual({
      Action: 'lambda:InvokeFunction',
      FunctionName: arnOfPublish,
      InvokedViaFunctionUrl: true,
      Principal: '*',
    });
  });

  it('its base URL is an output, without a slash at its end', () => {
    on.service.hasOutput('PublishUrl', { Value: { 'Fn::Join': ['', ['https://', host]] } });
  });

  it('every function of the region refuses its host from the start, save publish, which learns it', () => {
    for (const { name, variables } of functionsIn(on.service)) {
      const knows = JSON.stringify(variables['OWN_HOSTS']).includes(JSON.stringify(host));
      expect([name, knows]).toEqual([name, name !== 'Publish']);
    }
  });

  it('publish, and no other function, can tell where the whole API is', () => {
    for (const { name, variables } of functionsIn(on.service)) {
      const told = JSON.stringify(variables['API_URL'] ?? '').includes('.execute-api.eu-central-1.');
      expect([name, told]).toEqual([name, name === 'Publish']);
    }
  });

  it('nothing else is added, and nothing that keeps something is replaced', () => {
    const before = resources(off.service);
    const after = resources(on.service);
    for (const id of before.keys()) expect([...after.keys()]).toContain(id);
    const added = [...after].filter(([id]) => !before.has(id)).map(([, { Type }]) => Type);
    expect(added.sort()).toEqual(['AWS::Lambda::Permission', 'AWS::Lambda::Permission', 'AWS::Lambda::Url']);
  });
});
