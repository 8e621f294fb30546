import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseAllowedDestinations, parseOwnHosts } from '../../../lambdas/destination/addresses.ts';
import {
  parseDestination,
  parseUrl,
  refuseSsrf,
  targetOf,
  type Target,
} from '../../../lambdas/destination/destination.ts';
import { sampleOf } from '../../support/sample.ts';
import { quoteUrl } from '../../../lambdas/shared/urlCredentials.ts';
import { forbidden, HttpError } from '../../../lambdas/error/httpError.ts';

describe('a destination in the path', () => {
  it.each([
    ['https:/example.com/a', 'https://example.com/a'],
    ['HTTPS://Example.COM/Path', 'https://example.com/Path'],
    ['https%3A%2F%2Fexample.com%2Fa%252Fb', 'https://example.com/a%2Fb'],
    ['https://example.com:443/', 'https://example.com/'],
    ['https%3A%2F%2Fexample.com%2Fa%23fragment', 'https://example.com/a'],
    ['https://user:p%40ss@example.com/', 'https://user:p%40ss@example.com/'],
    ['https://münchen.example/', 'https://xn--mnchen-3ya.example/'],
    ['http://0x7f.1/', 'http://127.0.0.1/'],
    ['https://example.com/a#part\nof it', 'https://example.com/a'],
    ['https://:secret@example.com/', 'https://:secret@example.com/'],
    ['https://example.com/half \ud83d', 'https://example.com/half%20%EF%BF%BD'],
  ])('%s is the URL %s', (raw, url) => {
    expect(parseDestination(raw)).toEqual({ kind: 'url', url });
  });

  it.each(['orders', 'my.group_1-x', 'http', '1'])('%s is a URL group', (name) => {
    expect(parseDestination(name)).toEqual({ kind: 'group', name });
  });

  it.each(['a/b', 'http://:80', 'http://x%/', 'http:\\\\x', 'http://%C3:%A9@x/'])('%j is refused', (raw) => {
    expect(() => parseDestination(raw)).toThrow(HttpError);
  });

  const allowed =
    'a URL that starts with http:// or https://, the ARN of a function, queue, topic or bus in AWS, pull:<name>, or the name of a URL group (letters, digits, ".", "_", "-").';
  it.each([
    ['', `The destination is missing: a non-empty destination must be provided; allowed is ${allowed}`],
    ['ftp://x', `The destination is "ftp://x"; allowed is ${allowed}`],
    ['see https://example.com/', `The destination is "see https://example.com/"; allowed is ${allowed}`],
    ['xhttps%3A%2F%2Fexample.com', `The destination is "xhttps%3A%2F%2Fexample.com"; allowed is ${allowed}`],
    ['https%3A%2F%2F%', 'The destination is percent-encoded, but not correctly.'],
    ...(
      [
        ['http://x\\@y', 'it has a backslash behind the host'],
        ['http://exa\tmple.com/', 'its host has a space or a control character'],
        ['http://exam\u00adple.com/', 'its host has a space or a control character'],
        ['http://x:y', 'its user, host or port cannot be read'],
        ['http://%zz@x/', 'its user, host or port cannot be read'],
      ] as const
    ).map(([raw, problem]) => [
      raw,
      `The destination is ${quoteUrl(raw)}: ${problem}. Allowed is a URL that starts with http:// or https://.`,
    ]),
  ])('%j is refused with a sentence that says why: %s', (raw, sentence) => {
    expect(() => parseDestination(raw)).toThrow(new HttpError(400, 'destination_invalid', sentence));
  });

  it('of any text is either read or refused with one error, and a read one prints back', () => {
    const pieces = fc.constantFrom(
      ...'http https : / // % %2F %3A ? # @ \\ . a é 😀 [ ] ::1 127.0.0.1 0x7f :80 & ='.split(' '),
      ...[' ', '\u0000', '\ud800'],
    );
    const texts = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.webUrl({ withQueryParameters: true, withFragments: true }),
      fc.array(pieces, { maxLength: 15 }).map((list) => list.join('')),
      fc.array(pieces, { maxLength: 15 }).map((list) => `http://${list.join('')}`),
    );
    fc.assert(
      fc.property(texts, (text) => {
        try {
          const destination = parseDestination(text);
          if (destination.kind === 'group') return;
          expect(parseUrl('x', destination.url)).toBe(destination.url);
          expect(parseDestination(destination.url)).toEqual(destination);
          const target = targetOf(destination.url);
          expect(target.path).toMatch(/^\/[\x21-\x7e]*$/);
          expect(target.hostname).not.toBe('');
        } catch (error) {
          expect(error).toBeInstanceOf(HttpError);
        }
      }),
      { numRuns: sampleOf(2_000) },
    );
  });

  it('keeps every byte after the host that HTTP can carry', () => {
    const tails = fc.string({
      unit: fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code)),
    });
    fc.assert(
      fc.property(tails, (tail) => {
        const path = `/${tail.replaceAll('#', '')}`;
        expect(targetOf(parseUrl('x', `http://example.com${path}`)).path).toBe(path);
      }),
    );
  });
});

describe('an invalid URL, for example of a callback,', () => {
  it.each(['', 'orders', 'ftp://example.com/', 'see http://example.com/', '//example.com/'])(
    '%j is refused because of its form',
    (text) => {
      expect(() => parseUrl('Svc-Callback', text)).toThrow(
        `Svc-Callback is ${JSON.stringify(text)}: it has another form. Allowed is a URL that starts with http:// or https://.`,
      );
    },
  );
});

describe('a request to a destination', () => {
  it.each<[string, Partial<Target>]>([
    ['https://example.com/a?b=http://c', { protocol: 'https:', port: 443, path: '/a?b=http://c' }],
    ['http://example.com?a', { host: 'example.com', path: '/?a' }],
    ['https://example.com:8443/', { hostname: 'example.com', host: 'example.com:8443', port: 8443 }],
    ['http://[::1]:81/', { hostname: '::1', host: '[::1]:81', port: 81 }],
  ])('%s goes to its host and port, with all that follows as its path', (url, target) => {
    expect(targetOf(url)).toMatchObject({ ...target, credentials: undefined });
  });

  it.each([
    ['https://user:p%40ss@example.com/', 'user:p@ss'],
    ['https://:secret@example.com/', ':secret'],
  ])('%s has the decoded user and password of the URL', (url, credentials) => {
    expect(targetOf(url)).toMatchObject({ credentials, host: 'example.com' });
  });
});

describe('an unsafe destination', () => {
  const rules = {
    allowed: parseAllowedDestinations([]),
    own: parseOwnHosts(['api.example.com', '127.0.0.1:8080']),
  };

  it.each([
    'http://2130706433/',
    'http://0177.0.0.1/',
    'http://LOCALHOST./',
    'http://x.localhost/',
    'http://[::ffff:7f00:1]/',
    'http://169.254.169.254/',
    'https://api.example.com/v2/publish/x',
    'https://API.example.com./',
  ])('%s is refused', (raw) => {
    const destination = parseDestination(raw);
    if (destination.kind !== 'url') throw new Error('A URL was expected.');
    expect(() => {
      refuseSsrf('The destination', destination.url, rules);
    }).toThrow(HttpError);
  });

  it.each(['http://93.184.216.34/', 'https://example.com:8080/', 'http://[2606:2800:220:1::1]/'])(
    '%s is safe',
    (url) => {
      expect(() => {
        refuseSsrf('The destination', url, rules);
      }).not.toThrow();
    },
  );

  it('is allowed if the deployment allows its network or its name, but never if it is the service itself', () => {
    const allowed = parseAllowedDestinations(['127.0.0.0/8', '10.1.2.3', '::1', 'localhost']);
    const refuse = (url: string) => () => {
      refuseSsrf('The destination', url, { ...rules, allowed });
    };
    for (const url of [
      'http://app.localhost:3000/',
      'http://127.0.0.1:3000/',
      'http://10.1.2.3/',
      'http://[::1]/',
      'http://localhost/',
    ]) {
      expect(refuse(url)).not.toThrow();
    }
    expect(refuse('http://127.0.0.1:8080/')).toThrow(
      forbidden(
        'delivery_loop',
        'The destination is "http://127.0.0.1:8080/", which is this service itself; messages to it would go in circles.',
      ),
    );
    expect(refuse('http://user:secret@10.1.2.4/')).toThrow(
      forbidden(
        'destination_not_allowed',
        'The destination is "http://10.1.2.4/", which is not a public address; this deployment refuses it.',
      ),
    );
  });

  const own = parseOwnHosts([
    'Queue.Example.com.',
    '127.0.0.1:8080',
    'queue.example.com:8443',
    'abc1234567.execute-api.eu-central-1.amazonaws.com',
  ]);
  const local = parseAllowedDestinations([
    '127.0.0.0/8',
    '0.0.0.0/8',
    '::/127',
    'localhost',
    'app.localhost',
  ]);
  const judge = (raw: string) => (): void => {
    const destination = parseDestination(raw);
    if (destination.kind !== 'url') throw new Error('A URL was expected.');
    refuseSsrf('The destination', destination.url, { allowed: local, own });
  };

  it.each([
    'https://QUEUE.example.COM./',
    'http://queue.example.com:443/',
    'https://queue.example.com:8443/',
    'https://user:password@queue.example.com/',
    'https://ｑueue.example.com/',
    'https://ABC1234567.execute-api.EU-central-1.amazonaws.com./',
    'https://abc1234567-vpce-0123456789abcdef0.execute-api.eu-central-1.amazonaws.com/',
    'https://abc1234567.execute-api.eu-central-1.api.aws/',
    'https://abc1234567.execute-api.eu-central-1.vpce.amazonaws.com/',
    'http://127.0.0.1:8080/',
    'http://0x7f000001:8080/',
    'http://127.255.255.254:8080/',
    'http://0.0.0.0:8080/',
    'http://LocalHost.:8080/',
    'http://app.localhost:8080/',
    'http://[::1]:8080/',
    'http://[::]:8080/',
    'http://[::ffff:7f00:1]:8080/',
  ])('is a host of the service itself: %s', (raw) => {
    expect(judge(raw)).toThrow(/this service itself/);
  });

  it.each([
    'https://queue.example.com.evil.example/',
    'https://my.queue.example.com/',
    'https://queue.example.com:9443/',
    'https://abc1234568.execute-api.eu-central-1.amazonaws.com/',
    'https://abc1234567.execute-api.us-east-1.amazonaws.com/',
    'https://abc1234567.example.com/',
    'http://127.0.0.1:8081/',
    'http://localhost/',
  ])('is not one of the service’s hosts: %s', (raw) => {
    expect(judge(raw)).not.toThrow();
  });
});
