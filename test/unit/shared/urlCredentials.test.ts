import { describe, expect, it } from 'vitest';
import { configWithKnownCredentials } from '../../../lambdas/request/publishOptions.ts';
import { parseUrl } from '../../../lambdas/destination/destination.ts';
import { withEndpoints, withoutEndpoints } from '../../../lambdas/urlGroup/urlGroup.ts';
import { shownConfig } from '../../../lambdas/shared/headers.ts';
import {
  shownUrl,
  shownWebhook,
  withKnownCredentials,
  withoutSecrets,
} from '../../../lambdas/shared/urlCredentials.ts';
import { limitForHangsMs } from '../../support/limits.ts';

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

const slack = ['T0AB1CD2E', 'B0FG3HI4J', 'XXXXXXXXXXXXXXXXXXXXXXXX'].join('/');

describe('a URL beyond its message', () => {
  it.each([
    ['https://user:SECRET@example.com/a', 'https://example.com/a'],
    ['https://us@er:SECRET@example.com/a', 'https://example.com/a'],
    ['https://example.com/a?k=SECRET', 'https://example.com/a?…'],
    ['https://example.com/a?SECRET', 'https://example.com/a?…'],
    [`https://example.com/a?k='"<SECRET>東京`, 'https://example.com/a?…'],
    ['https://example.com?k=SECRET', 'https://example.com?…'],
    ['HTTPS://Example.com/a#SECRET', 'HTTPS://Example.com/a?…'],
    [`https://hooks.slack.com/services/${slack}`, 'https://hooks.slack.com/services/T0AB1CD2E/B0FG3HI4J/…'],
    ['https://discord.com/api/webhooks/1/SECRET', 'https://discord.com/api/webhooks/1/…'],
    ['https://acme.webhook.office.com/webhookb2/a@b/SECRET', 'https://acme.webhook.office.com/webhookb2/…'],
    ['https://api.telegram.org/bot1:SECRET/sendMessage', 'https://api.telegram.org/bot1/…'],
    ['https://hooks.zapier.com/hooks/catch/1/SECRET/', 'https://hooks.zapier.com/hooks/catch/…'],
    ['https://maker.ifttt.com/trigger/x/with/key/SECRET', 'https://maker.ifttt.com/trigger/x/with/key/…'],
    ['https://hc-ping.com/6e2c1b0a-1111-4222-8333-444455556666', 'https://hc-ping.com/…'],
    ['https://chat.example.com/hooks/xqf8ucqyjjbw9mmedkk4m8yxza', 'https://chat.example.com/hooks/…'],
    ['https://events.pagerduty.com/v2/enqueue', 'https://events.pagerduty.com/v2/enqueue'],
    ['https://a1b2c3d4e5f6g7h8.example.com/jobs/42', 'https://a1b2c3d4e5f6g7h8.example.com/jobs/42'],
    ['https://example.com/hooks/stripe/daily-report', 'https://example.com/hooks/stripe/daily-report'],
    [
      'arn:aws:lambda:eu-central-1:111122223333:function:x',
      'arn:aws:lambda:eu-central-1:111122223333:function:x',
    ],
    ['', ''],
  ])('is kept as its message does not need it: %s as %s', (url, shown) => {
    expect(withoutSecrets(url)).toBe(shown);
    expect(withoutSecrets(`It is ${url} 東京, ${url}`)).toBe(`It is ${shown} 東京, ${shown}`);
    expect(withoutSecrets(shown)).toBe(shown);
  });

  it('takes no longer than its length allows', () => {
    const began = performance.now();
    for (const part of ['a', '/a1', '/services/T1', '@', '://', 'a://', '/a1b2c3d4e5f6g7h8'])
      withoutSecrets(`https://${part.repeat(8_192 / part.length)}`);
    expect(performance.now() - began).toBeLessThan(limitForHangsMs);
  });

  it.each([
    ['https://user:SECRET@chat.example.com:8443/SECRET?k=SECRET#SECRET', 'https://chat.example.com:8443/…'],
    ['https://chat.example.com?SECRET', 'https://chat.example.com/…'],
    ['https://chat.example.com', 'https://chat.example.com/…'],
    ['arn:aws:sns:eu-central-1:111122223333:alarms', 'arn:aws:sns:eu-central-1:111122223333:alarms'],
  ])('of a webhook is only its origin: %s', (url, shown) => {
    expect(shownWebhook(url)).toBe(shown);
    expect(shownWebhook(shown)).toBe(shown);
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
    // The same URL, spelled as before.
    const known = new Map([['callback', [' HTTPS://user:password@Example.com:443/a?b']]]);
    const config = new Map([
      ['callback', ['https://example.com/a?b']],
      ['failure-callback', ['https://example.com/a?b']],
      ['retries', ['3']],
    ]);
    expect(configWithKnownCredentials(config, known)).toEqual(new Map([...config, ['callback', [before]]]));
    expect(configWithKnownCredentials(config, undefined)).toEqual(config);
    expect(shownConfig('Svc', configWithKnownCredentials(config, known))).toEqual({
      'Svc-Callback': ['https://example.com/a?b'],
      'Svc-Failure-Callback': ['https://example.com/a?b'],
      'Svc-Retries': ['3'],
    });
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
