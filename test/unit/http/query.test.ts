import { describe, expect, it } from 'vitest';
import { canonicalize } from '../../../lambdas/request/dialect.ts';
import type { Header } from '../../../lambdas/shared/headers.ts';
import { readQuery } from '../../../lambdas/http/query.ts';

const read = (...query: readonly Header[]) =>
  readQuery({ canonical: canonicalize([], query, ['Svc']) }, ['rate', 'period']);

describe('the query of an operation', () => {
  it('is read by name, without the token', () => {
    expect(read(['rate', '5'], ['svc_token', 'secret'])).toEqual({ rate: '5' });
    expect(read(['period', ' '], ['rate', '5'])).toEqual({ period: ' ', rate: '5' });
    expect(read()).toEqual({});
  });

  it.each<[says: string, ...Header[]]>([
    ['"Rate" is not a parameter here; allowed are rate, period.', ['Rate', '1']],
    ['"__proto__" is not a parameter here; allowed are rate, period.', ['__proto__', '1']],
    ['rate is given twice; allowed is once.', ['rate', '1'], ['rate', '1']],
    ['period is empty; a parameter must have a value.', ['rate', '1'], ['period', '']],
  ])('is refused: %s', (says, ...query) => {
    expect(() => read(...query)).toThrow(says);
  });
});
