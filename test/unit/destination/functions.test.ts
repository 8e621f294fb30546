import { describe, expect, it } from 'vitest';
import {
  parseAddress,
  parseDestination,
  refuseDestination,
} from '../../../lambdas/destination/destination.ts';
import { formOfArn, matchesArn, refusingList } from '../../../lambdas/destination/functions.ts';
import { hostOf, pathOf } from '../../../lambdas/destination/place.ts';

const arn = 'arn:aws:lambda:eu-central-1:123456789012:function:orders';

describe('a function as a destination', () => {
  it.each([
    arn,
    `${arn}:live`,
    `${arn}:42`,
    `${arn}:$LATEST`,
    arn.replace('aws', 'aws-cn'),
    arn.replace('aws:lambda:eu-central-1', 'aws-us-gov:lambda:us-gov-west-1'),
    `${arn}_-9`,
  ])('is %s, as it is or percent-encoded', (text) => {
    expect(parseDestination(text)).toEqual({ kind: 'function', url: text });
    expect(parseDestination(encodeURIComponent(text))).toEqual({ kind: 'function', url: text });
    expect(parseDestination(text.replace('$', '%24'))).toEqual({ kind: 'function', url: text });
    expect(parseAddress('callback', text)).toBe(text);
  });

  it.each([
    'arn:',
    'arn:aws:sqs:eu-central-1:123456789012:queue',
    `${arn}:`,
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
      message: expect.stringContaining(`has the form ${formOfArn}.`) as string,
    }) as Error;
    expect(() => parseDestination(text)).toThrow(refused);
    expect(() => parseAddress('callback', text)).toThrow(refused);
  });

  it('has its ARN for a host, and no path', () => {
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
    [arn, `${arn}2`, false],
    [arn, `${arn}:live`, false],
    [`${arn}*`, `${arn}:live`, true],
    [`${arn}:*`, arn, false],
    ['arn:aws:lambda:*:123456789012:function:*', arn, true],
    ['arn:aws:lambda:*:123456789013:function:*', arn, false],
    ['arn:aws:lambda:*:*:function:*ord*rs', arn, true],
    ['arn:aws:lambda:*:*:function:*ord*ers*x', arn, false],
    // What one star has taken, another cannot take again.
    ['a*bc*c', 'abc', false],
    ['a*b*b', 'ab', false],
    ['a**b', 'ab', true],
    ['*', '', true],
  ])('%s for %s: %s', (pattern, text, expected) => {
    expect(matchesArn(pattern, text)).toBe(expected);
  });

  it('takes no longer for many stars than for one', () => {
    const long = 'a'.repeat(250);
    expect(matchesArn(`${'*a'.repeat(120)}b`, long)).toBe(false);
  });

  it('must be in both lists', () => {
    const all = ['arn:aws:lambda:*:*:function:*'];
    expect(refusingList(arn, { deployment: all, account: [arn] })).toBeUndefined();
    expect(refusingList(arn, { deployment: [], account: all })).toContain('lambdaDestinations');
    expect(refusingList(arn, { deployment: all, account: [] })).toContain('lambda_destinations');
    const rules = { allowed: { hosts: new Set<string>(), networks: [] }, own: new Set<string>() };
    const functions = { deployment: all, account: [] };
    expect(() => {
      refuseDestination('The destination', arn, { ...rules, functions });
    }).toThrow(
      `The destination is "${arn}", which the field lambda_destinations of the account does not have.`,
    );
  });
});
