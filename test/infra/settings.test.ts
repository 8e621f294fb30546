import { App } from 'aws-cdk-lib';
import { describe, expect, it } from 'vitest';
import { readSettings } from '../../lib/settings.ts';
import { cdkContext } from './app.ts';

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
      pricePerMessage: 0.000_01,
      gatewayLogRole: true,
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
      pricePerMessage: '0.0002',
    };
    const json = {
      regions: ['eu-west-1', 'ap-southeast-2'],
      retain: false,
      logRetentionDays: 7,
      allowedDestinations: ['10.0.0.0/8', 'intranet.example.com'],
      deliveryConcurrency: 50,
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
    ['a number that is none', { throttleRate: 'fast' }, /throttleRate/],
    ['a part where whole ones count', { throttleRate: '1.5' }, /throttleRate/],
    ['a message that pays its sender', { pricePerMessage: -1 }, /pricePerMessage/],
  ])('refuse %s, by name', (_, context, message) => {
    expect(() => read(context)).toThrow(message);
  });
});
