import { afterAll, describe, expect, it } from 'vitest';
import type * as documentModule from '../../../lambdas/http/openapi/document.ts';
import type * as filtersModule from '../../../lambdas/wire/filters.ts';
import { followGuide } from './followGuide.ts';

const guide = followGuide('Add a filter of lists', {
  like: ['scheme', 'host'],
  include: ['lambdas/wire/filters.ts', 'lambdas/http/openapi/document.ts'],
});
afterAll(guide.remove);

describe('a filter that is added according to the guide', () => {
  it('touches at most three files, and compiles', () => {
    expect(guide.files.length).toBeLessThanOrEqual(3);
    guide.add();
    expect(guide.compile()).toBe('');
  });

  it('is read, refused, matched and described', async () => {
    const { parseFilter, matches } = await guide.load<typeof filtersModule>('lambdas/wire/filters.ts');
    const filter = parseFilter('dlq', [['scheme', 'HTTPS']]);
    expect(matches(filter, { url: 'https://example.com/' })).toBe(true);
    expect(matches(filter, { url: 'http://example.com/' })).toBe(false);
    expect(() => parseFilter('logs', [['scheme', '東京']])).toThrow(
      'scheme is "東京"; allowed are http, https.',
    );
    const { describeApi } = await guide.load<typeof documentModule>('lambdas/http/openapi/document.ts');
    expect(JSON.stringify(describeApi())).toContain('The scheme of its URL.');
  });
});
