import { describe, expect, it } from 'vitest';
import { configWithKnownCredentials } from '../../../lambdas/request/publishOptions.ts';
import { parseUrl } from '../../../lambdas/destination/destination.ts';
import { withEndpoints, withoutEndpoints } from '../../../lambdas/urlGroup/urlGroup.ts';
import { shownConfig, shownUrl, withKnownCredentials } from '../../../lambdas/shared/urlCredentials.ts';

describe('a URL is shown', () => {
  it.each([
    ['https://user:password@example.com/a', 'https://example.com/a'],
    ['https://user@example.com', 'https://example.com'],
    ['HTTP://user:p%40ss@example.com:8080?a=b@c', 'HTTP://example.com:8080?a=b@c'],
    ['https://us@er:password@example.com/', 'https://example.com/'],
    ['https://example.com/@user', 'https://example.com/@user'],
    ['https://example.com?to=a@b', 'https://example.com?to=a@b'],
    ['https://[::1]:1/@', 'https://[::1]:1/@'],
    ['group.name', 'group.name'],
    ['', ''],
  ])('%s as %s', (url, shown) => {
    expect(shownUrl(url)).toBe(shown);
    expect(shownUrl(shown)).toBe(shown);
  });

  it('without its credentials in any spelling', () => {
    for (const text of [
      'https://a:b@c:d@example.com/x',
      'https://ü:ß@example.com/x',
      'https://:secret@example.com/x',
    ]) {
      expect(shownUrl(parseUrl('url', text))).toBe('https://example.com/x');
    }
  });
});

describe('a URL that replaces another', () => {
  const before = 'https://user:password@example.com/a?b';
  it.each([
    ['https://example.com/a?b', before],
    ['https://other:one@example.com/a?b', 'https://other:one@example.com/a?b'],
    ['https://example.com/a', 'https://example.com/a'],
    ['https://example.com:8443/a?b', 'https://example.com:8443/a?b'],
    ['http://example.com/a?b', 'http://example.com/a?b'],
    ['https://example.org/a?b', 'https://example.org/a?b'],
  ])('%s is %s', (url, kept) => {
    expect(withKnownCredentials(url, before)).toBe(kept);
    expect(withKnownCredentials(url, undefined)).toBe(url);
  });

  it('is also that of a callback in a configuration', () => {
    // The same URL in its earlier spelling.
    const known = new Map([['callback', [' HTTPS://user:password@Example.com:443/a?b']]]);
    const config = new Map([
      ['callback', ['https://example.com/a?b']],
      ['failure-callback', ['https://example.com/a?b']],
      ['retries', ['3']],
    ]);
    expect(configWithKnownCredentials(config, known)).toEqual(new Map([...config, ['callback', [before]]]));
    expect(configWithKnownCredentials(config, undefined)).toEqual(config);
    expect(shownConfig(configWithKnownCredentials(config, known))).toEqual(config);
  });
});

describe('endpoints', () => {
  const endpoints = [
    { url: 'https://a:b@example.com/', name: 'one' },
    { url: 'https://c:d@example.com/', name: 'two' },
  ];

  it('that are written back as they are shown keep their credentials', () => {
    const shown = endpoints.map(({ url, name }) => ({ url: shownUrl(url), name }));
    expect(withEndpoints(endpoints, shown)).toEqual(endpoints);
  });

  it('are named by their URLs with and without credentials', () => {
    for (const url of ['https://example.com/', 'https://x:y@example.com/']) {
      expect(withoutEndpoints(endpoints, [{ url, name: 'two' }])).toEqual({
        left: [endpoints[0]],
        unknown: [],
      });
    }
    expect(
      withEndpoints([{ url: 'https://a:b@example.com/' }], [{ url: 'https://c:d@example.com/' }]),
    ).toEqual([{ url: 'https://c:d@example.com/' }]);
  });
});
