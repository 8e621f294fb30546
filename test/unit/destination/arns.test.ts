import { describe, expect, it } from 'vitest';
import {
  parseAddress,
  parseDestination,
  refuseDestination,
} from '../../../lambdas/destination/destination.ts';
import {
  arnKinds,
  formsOfArns,
  isDestinationArn,
  matchesArn,
  readArn,
  refusingList,
  whatHasArns,
} from '../../../lambdas/destination/arns.ts';
import { hostOf, pathOf } from '../../../lambdas/destination/place.ts';

const arn = 'arn:aws:lambda:eu-central-1:123456789012:function:orders';

const queue = 'arn:aws:sqs:eu-central-1:123456789012:orders';
const topic = 'arn:aws:sns:eu-central-1:123456789012:orders';
const bus = 'arn:aws:events:eu-central-1:123456789012:event-bus/orders';

describe('an ARN as a destination', () => {
  it.each([
    arn,
    `${arn}:live`,
    `${arn}:$LATEST`,
    arn.replace('aws:lambda:eu-central-1', 'aws-us-gov:lambda:us-gov-west-1'),
    `${arn}_-9`,
    queue,
    `${queue}.fifo`,
    `${queue}${'x'.repeat(74)}`,
    topic,
    `${topic}${'x'.repeat(250)}`,
    bus,
    `${bus}.v-1_2`,
  ])('is %s, plain or percent-encoded', (text) => {
    expect(parseDestination(text)).toEqual({ kind: 'arn', url: text });
    expect(parseDestination(encodeURIComponent(text))).toEqual({ kind: 'arn', url: text });
    expect(parseDestination(text.replace('$', '%24'))).toEqual({ kind: 'arn', url: text });
    expect(parseAddress('callback', text)).toBe(text);
  });

  it.each([
    'arn:',
    'arn:aws:s3:::bucket',
    `${queue}.fifa`,
    `${queue}${'x'.repeat(75)}`,
    `${topic}:0f1e2d3c`,
    `${topic}${'x'.repeat(251)}`,
    bus.replace('event-bus/', ''),
    `${bus}/a`,
    'arn:aws:constructor:eu-central-1:123456789012:a',
    `${arn}:a:b`,
    `${arn}?a=b`,
    `${arn}/x`,
    arn.replace('123456789012', '12345678901'),
    arn.replace('eu-central-1', 'everywhere'),
    arn.replace(':orders', ':'),
    `${arn}${'x'.repeat(64)}`,
    `${arn}\n`,
  ])('is not %j', (text) => {
    const refused = expect.objectContaining({
      status: 400,
      message: expect.stringContaining(`; allowed ARNs are ${formsOfArns}.`) as string,
    }) as Error;
    expect(() => parseDestination(text)).toThrow(refused);
    expect(() => parseAddress('callback', text)).toThrow(refused);
  });

  it('has parts', () => {
    expect(readArn(`${queue}.fifo`)).toEqual({
      partition: 'aws',
      service: 'sqs',
      region: 'eu-central-1',
      accountId: '123456789012',
      resource: 'orders.fifo',
    });
    expect(readArn(bus)).toMatchObject({ service: 'events', resource: 'event-bus/orders' });
    expect(readArn(`${arn}:live`)).toMatchObject({ service: 'lambda', resource: 'function:orders:live' });
    expect(isDestinationArn('https://example.com')).toBe(false);
    expect(() => readArn('https://example.com')).toThrow('is not the ARN of a destination');
  });

  it('is named by its kind in both refusals', () => {
    const kinds = Object.entries(arnKinds);
    expect(whatHasArns.split(/, | or /)).toEqual(kinds.map(([, { what }]) => what));
    const forms = kinds.map(([service, { form }]) => `…:${service}:…:${form}`);
    const first = formsOfArns.replace('arn:aws:', '…:').replace('<region>:<account>', '…');
    expect(first.split(/, | or (?=…)/).toSorted()).toEqual(forms.toSorted());
  });

  it('has its ARN as its host, and no path', () => {
    expect([hostOf(arn), pathOf(arn)]).toEqual([arn, '/']);
    expect([hostOf('https://example.com:8443/a?b'), pathOf('https://example.com:8443/a?b')]).toEqual([
      'example.com:8443',
      '/a',
    ]);
  });
});

describe('a pattern of ARNs', () => {
  it.each([
    [arn, arn, true],
    [arn, `${arn}:live`, false],
    [`${arn}:*`, arn, false],
    ['arn:aws:lambda:*:123456789012:function:*', arn, true],
    ['arn:aws:lambda:*:*:function:*ord*rs', arn, true],
    // Text that one star has matched cannot be matched by another.
    ['a*bc*c', 'abc', false],
    ['a*b*b', 'ab', false],
    ['a**b', 'ab', true],
    ['*', '', true],
  ])('%s for %s: %s', (pattern, text, expected) => {
    expect(matchesArn(pattern, text)).toBe(expected);
  });

  it('takes no longer with many stars than with one', () => {
    const long = 'a'.repeat(250);
    expect(matchesArn(`${'*a'.repeat(120)}b`, long)).toBe(false);
  });

  it('must match both lists', () => {
    const all = ['arn:aws:lambda:*:*:function:*'];
    expect(refusingList(arn, { deployment: all, account: [arn] })).toBeUndefined();
    expect(refusingList(arn, { deployment: [], account: all })).toContain('lambdaDestinations');
    expect(refusingList(arn, { deployment: all, account: [] })).toContain('lambda_destinations');
    expect(refusingList(queue, { deployment: all, account: all })).toBe(
      'the setting destinations of the deployment',
    );
    expect(refusingList(queue, { deployment: [queue], account: all })).toBe(
      'the field destinations of the account',
    );
    const rules = { allowed: { hosts: new Set<string>(), networks: [] }, own: new Set<string>() };
    expect(() => {
      refuseDestination('The destination', arn, { ...rules, arns: { deployment: all, account: [] } });
    }).toThrow(
      `The destination is "${arn}", which the field lambda_destinations of the account does not have.`,
    );
  });
});
