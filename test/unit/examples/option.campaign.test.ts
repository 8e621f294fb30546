import * as z from 'zod/mini';
import { afterAll, describe, expect, it } from 'vitest';
import { newAccount } from '../../../lambdas/account/account.ts';
import type * as recordsModule from '../../../lambdas/message/records.ts';
import type * as listsModule from '../../../lambdas/options/options.ts';
import type * as optionsModule from '../../../lambdas/request/publishOptions.ts';
import { followGuide } from './followGuide.ts';

const guide = followGuide('Add an option of a message', {
  like: ['color', 'circuit'],
  include: ['lambdas/options', 'lambdas/request/publishOptions.ts', 'lambdas/message/records.ts'],
});
afterAll(guide.remove);

const account = newAccount({ id: 'one', plan: 'paid', region: 'eu-central-1', createdAt: 0 });
const rules = {
  allowed: { hosts: new Set<string>(), networks: [] },
  own: new Set<string>(),
  arns: { deployment: [], account: [] },
};

describe('an option that is added according to the guide', () => {
  it('is required by the compiler wherever it is missing', () => {
    guide.add('lambdas/options/options.ts', /^import|color\.stored/);
    const said = guide.compile();
    expect(said).toMatch(/Property 'color' is missing in type .* required in type .*Partial/);
    expect(said).toMatch(/Property 'color' is missing in type .* required in type .*RunSettings/);
    guide.add();
    expect(guide.compile()).toBe('');
  });

  it('is read, refused, kept and shown', async () => {
    const { parsePublishOptions, parseOverrides } = await guide.load<typeof optionsModule>(
      'lambdas/request/publishOptions.ts',
    );
    const { settingsRecord } = await guide.load<typeof recordsModule>('lambdas/message/records.ts');
    const { stored } = await guide.load<typeof listsModule>('lambdas/options/options.ts');
    const request = (config: Readonly<Record<string, string>>) => ({
      prefix: 'Svc',
      config: new Map(Object.entries(config).map(([name, value]) => [name, [value]])),
      otherHeaders: [],
    });
    const callback = { callback: 'https://example.com/', 'callback-color': 'blue' };
    const options = parsePublishOptions(request({ color: 'red', ...callback }), account, rules, 0);
    expect(options).toMatchObject({ color: 'red', callback: { color: 'blue' } });
    expect(() => parsePublishOptions(request({ color: 'urgent' }), account, rules, 0)).toThrow(
      'Svc-Color is "urgent"; allowed are blue and red.',
    );
    expect(parseOverrides(request({ color: 'blue' }), account, rules, 0)).toEqual({ color: 'blue' });
    expect(z.parse(z.object(stored), options)).toMatchObject({ color: 'red' });
    expect(settingsRecord(options)).toMatchObject({ color: 'red' });
  });
});
