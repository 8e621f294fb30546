import { describe, expect, it } from 'vitest';
import { parseDestination } from '../../../lambdas/destination/destination.ts';
import { onlyTo, parsePattern } from '../../../lambdas/destination/onlyTo.ts';

const isAllowed = (
  patterns: readonly string[],
  wanted: { destination: string; queueName?: string },
): boolean => {
  const read = patterns.map((text) => {
    const pattern = parsePattern(text);
    if (pattern === undefined) throw new Error(`${text} is no pattern.`);
    return pattern;
  });
  try {
    const scope = onlyTo('tok_1', read);
    const parsed = parseDestination(wanted.destination);
    if (parsed.kind === 'group') scope.refuseGroup('The destination', parsed.name);
    else scope.refuse('The destination', parsed.url);
    if (wanted.queueName !== undefined) scope.refuseQueue('The queue', wanted.queueName);
    return true;
  } catch (error) {
    expect(error).toMatchObject({ status: 403, code: 'token_scope_exceeded' });
    return false;
  }
};

describe('a pattern', () => {
  it.each([
    ['https://Example.com', 'https://example.com/'],
    ['https://example.com:443/Hooks', 'https://example.com/Hooks'],
    ['http://127.0.0.1:8080/a/', 'http://127.0.0.1:8080/a/'],
    ['orders', 'orders'],
    ['mail.eu-1_x', 'mail.eu-1_x'],
    ['group:orders', 'group:orders'],
    ['queue:mail', 'queue:mail'],
  ])('%s is kept as %s', (text, kept) => {
    expect(parsePattern(text)).toBe(kept);
  });

  it.each([
    '',
    'https://',
    'https:/example.com',
    'ftp://example.com/',
    'https://u:p@example.com/',
    'https://example.com/?a=1',
    'https://example.com/#a',
    'https://example.com/a/%2e%2e%2fb',
    'http://x/%2e%2e/',
    'http://x/a/../b',
    'http://*.example/',
    'http://x/a*',
    'topic:orders',
    'queue:',
    'queue:a/b',
    'two words',
    'a/b',
    '*',
  ])('%j is invalid', (text) => {
    expect(parsePattern(text)).toBeUndefined();
  });
});

describe('a token for https://example.com/hooks/', () => {
  const patterns = ['https://example.com/hooks/'];

  it.each([
    'https://example.com/hooks/',
    'https://example.com/hooks/orders?a=1',
    'https:/example.com/hooks/x',
    'https%3A%2F%2Fexample.com%2Fhooks%2Fx',
    'https://EXAMPLE.com:443/hooks/x',
    'https://example.com/hooks/a..b/..c/x..;y',
    'https://example.com/hooks/100%25/a%20b',
    'https://user:secret@example.com/hooks/x',
  ])('publishes to %s', (destination) => {
    expect(isAllowed(patterns, { destination })).toBe(true);
  });

  it.each([
    'https://example.com/',
    'https://example.com/hooks',
    'https://example.com/Hooks/x',
    'http://example.com/hooks/x',
    'https://example.com:8443/hooks/x',
    'https://example.com.evil.net/hooks/x',
    'https://example.com@evil.net/hooks/x',
    'https://evil.net/https://example.com/hooks/',
    'https://example.com/hooks/../admin',
    'https://example.com/hooks/%2e%2e/admin',
    'https://example.com/hooks/..%5cadmin',
    'https://example.com/x/../hooks/',
    'https://example.com/hooks/..;/admin',
    'https://example.com/hooks/..%3b/admin',
    'https://example.com/hooks/%2525252525252e/admin',
    'https://example.com/hooks/..%00/admin',
    'https://example.com/hooks/%20../admin',
    'https://example.com/hooks/..%09/admin',
    'https://example.com/hooks/%ef%bc%8e%ef%bc%8e/admin',
    'https://example.com/hooks/%c0%ae%c0%ae/admin',
    'https://example.com/%68ooks/x',
    'https://example.com/hooks/%',
    'hooks',
  ])('does not publish to %s', (destination) => {
    expect(isAllowed(patterns, { destination })).toBe(false);
  });

  it('may reach known URLs of other kinds, and no other URLs', () => {
    const scope = onlyTo('tok_1', patterns).withKnown([
      'https://hooks.example.net/a',
      'https://hooks.example.net/b?c=1',
    ]);
    const allowed = [
      'https://hooks.example.net/a',
      'https://hooks.example.net/a?x=1',
      'https://hooks.example.net/b?c=1&x=1',
    ];
    const refused = [
      'https://hooks.example.net/a/b',
      'https://hooks.example.net/ab',
      'https://hooks.example.net/b?c=12',
    ];
    expect(allowed.map(scope.allows)).toEqual(allowed.map(() => true));
    expect(refused.map(scope.allows)).toEqual(refused.map(() => false));
  });
});

describe('names of groups and queues', () => {
  const url = 'https://example.com/';

  it.each(['orders', 'group:orders'])('%s is a group, but not a queue', (pattern) => {
    expect(isAllowed([pattern], { destination: 'orders' })).toBe(true);
    expect(isAllowed([pattern], { destination: 'order' })).toBe(false);
    expect(isAllowed([pattern], { destination: url, queueName: 'orders' })).toBe(false);
    expect(isAllowed([pattern, url], { destination: url, queueName: 'orders' })).toBe(false);
  });

  it('queue:mail permits the queue, but no destination', () => {
    expect(isAllowed(['queue:mail'], { destination: url, queueName: 'mail' })).toBe(false);
    expect(isAllowed(['queue:mail'], { destination: 'mail' })).toBe(false);
    expect(isAllowed(['queue:mail', url], { destination: url, queueName: 'mail' })).toBe(true);
    expect(isAllowed(['queue:mail', url], { destination: url, queueName: 'post' })).toBe(false);
    expect(isAllowed(['queue:mail', url], { destination: url })).toBe(true);
  });
});

it.each([
  'arn:aws:lambda:eu-central-1:111122223333:function:orders',
  'arn:aws:sqs:eu-central-1:111122223333:orders.fifo',
  'arn:aws:sns:eu-central-1:111122223333:orders',
  'arn:aws:events:eu-central-1:111122223333:event-bus/orders',
])('a token for an AWS resource publishes only there: %s', (arn) => {
  expect(isAllowed([arn], { destination: arn })).toBe(true);
  expect(isAllowed([arn.replace('eu-central-1', '*')], { destination: arn })).toBe(true);
  expect(isAllowed([arn], { destination: arn.replace('orders', 'other') })).toBe(false);
  expect(isAllowed([arn], { destination: 'https://example.com/' })).toBe(false);
  expect(isAllowed(['https://example.com/'], { destination: arn })).toBe(false);
});

describe('the ids that a token for some destinations gives', () => {
  const own = (config: Readonly<Record<string, string>>) =>
    Object.fromEntries(
      [...onlyTo('tok_1', []).own(new Map(Object.entries(config).map(([name, text]) => [name, [text]])))].map(
        ([name, [text]]) => [name, text],
      ),
    );

  it.each([
    'deduplication-id',
    'flow-control-key',
    'failure-callback-fair-key',
    'failure-callback-callback-flow-control-key',
  ])('are its own: %s', (name) => {
    expect(own({ [name]: ' tok_2:x ' })).toEqual({ [name]: 'tok_1:tok_2:x' });
    expect(own({ [name]: ' ' })).toEqual({ [name]: '' });
  });

  it('are not headers of its messages, or other settings', () => {
    const others = {
      'forward-flow-control-key': 'x',
      'forward-flow-control-value': 'x',
      'callback-forward-fair-key': 'x',
      label: 'x',
    };
    expect(own(others)).toEqual(others);
  });

  it('have the limits that it gives, and a group’s key does not', () => {
    const value = 'parallelism=1';
    expect(own({ 'flow-control-key': 'x', 'flow-control-value': value })).toHaveProperty(
      'flow-control-value',
      value,
    );
    for (const name of ['flow-control-value', 'callback-flow-control-value'])
      expect(() => own({ [name]: value })).toThrow(expect.objectContaining({ status: 400 }));
  });
});
