import { afterAll, describe, expect, it } from 'vitest';
import type * as accountModule from '../../../lambdas/account/account.ts';
import type * as fieldsModule from '../../../lambdas/management/rules/accountFields.ts';
import type * as answersModule from '../../../lambdas/wire/accountAnswers.ts';
import { followGuide } from './followGuide.ts';

const guide = followGuide('Add a field of an account', {
  include: ['lambdas/management/rules', 'lambdas/management/accountShapes.ts'],
});
afterAll(guide.remove);

describe('a field of an account that is added according to the guide', () => {
  it('is required by the compiler in the row, and touches two files', () => {
    guide.add('lambdas/wire/accountFields.ts');
    expect(guide.compile()).toContain("Property 'note' does not exist on type 'Account'");
    guide.add();
    expect(guide.compile()).toBe('');
    expect(guide.files).toHaveLength(2);
  });

  it('is read, refused, kept, shown and removed', async () => {
    const { newAccount, storedAccount } = await guide.load<typeof accountModule>(
      'lambdas/account/account.ts',
    );
    const { parseAccountInput, shownSettings, withFields } = await guide.load<typeof fieldsModule>(
      'lambdas/management/rules/accountFields.ts',
    );
    const { account: answer } = await guide.load<typeof answersModule>('lambdas/wire/accountAnswers.ts');
    const parse = (body: unknown) =>
      parseAccountInput(body, { regions: ['eu-central-1'], longestTimeoutSeconds: 900 });
    expect(() => parse({ note: 7 })).toThrow(
      'note is 7; allowed is a text of at most 200 characters, or null.',
    );
    const before = newAccount({ id: 'one', plan: 'paid', region: 'eu-central-1', createdAt: 0 });
    const after = withFields(before, parse({ note: 'Ask first.' }), 0);
    expect(storedAccount.parse(after)).toMatchObject({ note: 'Ask first.' });
    expect(shownSettings(after)).toMatchObject({ note: 'Ask first.' });
    expect(Object.keys(answer.shape)).toContain('note');
    expect(withFields(after, parse({ note: null }), 0)).toMatchObject({ note: undefined });
  });
});
