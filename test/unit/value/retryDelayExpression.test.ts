import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { HttpError } from '../../../lambdas/error/httpError.ts';
import {
  evaluateRetryDelay,
  parseRetryDelay,
  type RetryDelay,
} from '../../../lambdas/value/retryDelayExpression.ts';
import { limitForHangsMs } from '../../support/limits.ts';

const evaluate = (text: string, retried: number): number =>
  evaluateRetryDelay(parseRetryDelay('Svc-Retry-Delay', text), retried);

function textOf(expression: RetryDelay): string {
  switch (expression.kind) {
    case 'number':
      return String(expression.value);
    case 'retried':
      return 'retried';
    case 'negative':
      return `(-${textOf(expression.of)})`;
    case 'operation':
      return `(${textOf(expression.left)} ${expression.operator} ${textOf(expression.right)})`;
    case 'call':
      return `${expression.name}(${expression.args.map(textOf).join(', ')})`;
  }
}

describe('a retry-delay expression', () => {
  it.each([
    ['pow(2, retried) * 1000', 3, 8000],
    ['max(1000, min(retried * 500, 2000))', 9, 2000],
    ['-(-5) + +1', 0, 6],
    ['10 - 2 - 3', 0, 5],
    ['7 % 4 / 2', 0, 1.5],
    ['exp(0) + sqrt(16) + abs(-3) + floor(1.9) + ceil(1.1) + round(1.5)', 0, 13],
    ['.5 * 2000', 0, 1000],
  ])('%s with retried = %i is %d', (text, retried, value) => {
    expect(evaluate(text, retried)).toBe(value);
  });

  it.each([
    ['', /it is empty/],
    ['1 2', /not one arithmetic expression/],
    ['retries', /the name "retries" is unknown/],
    ['toString', /the name "toString" is unknown/],
    ['sqrt()', /sqrt takes 1 argument, not 0/],
    ['pow(1, 2, 3)', /pow takes 2 arguments, not 3/],
    ['retried.constructor', /not one arithmetic expression/],
    ['(1).toString()', /only a function can be called/],
    ['1 ? 2 : 3', /not one arithmetic expression/],
    ['!1', /the operator "!" is unknown/],
    ['this', /not one arithmetic expression/],
    ['1e999', /too large a number/],
    ['(1', /Svc-Retry-Delay/],
  ])('%j is refused', (text, says) => {
    expect(() => parseRetryDelay('Svc-Retry-Delay', text)).toThrow(says);
    expect(() => parseRetryDelay('Svc-Retry-Delay', text)).toThrow(HttpError);
  });

  const expressions: fc.Arbitrary<RetryDelay> = fc.letrec<{ any: RetryDelay }>((tie) => ({
    any: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      fc.record({
        kind: fc.constant('number' as const),
        value: fc.double({ min: 0, max: 1e6, noNaN: true }).filter((value) => !Object.is(value, -0)),
      }),
      fc.constant({ kind: 'retried' as const }),
      fc.record({ kind: fc.constant('negative' as const), of: tie('any') }),
      fc.record({
        kind: fc.constant('operation' as const),
        operator: fc.constantFrom('+', '-', '*', '/', '%'),
        left: tie('any'),
        right: tie('any'),
      }),
      fc.record({
        kind: fc.constant('call' as const),
        name: fc.constantFrom('pow', 'min', 'max'),
        args: fc.tuple(tie('any'), tie('any')),
      }),
      fc.record({
        kind: fc.constant('call' as const),
        name: fc.constantFrom('exp', 'sqrt', 'abs', 'floor', 'ceil', 'round'),
        args: fc.tuple(tie('any')),
      }),
    ),
  })).any;

  it('that is printed is read back unchanged', () => {
    fc.assert(
      fc.property(expressions, (expression) => {
        const text = textOf(expression);
        fc.pre(text.length <= 500);
        expect(parseRetryDelay('x', text)).toEqual(expression);
      }),
    );
  });

  it('of any text is read or refused with one error', () => {
    const pieces = fc.constantFrom(...'( ) pow , retried 1 + - * / . [ " e9 % ; ?'.split(' '), ' ');
    const texts = fc.oneof(
      fc.string({ maxLength: 600 }),
      fc.array(pieces, { maxLength: 400 }).map((list) => list.join('')),
    );
    fc.assert(
      fc.property(texts, (text) => {
        try {
          evaluateRetryDelay(parseRetryDelay('x', text), 3);
        } catch (error) {
          expect(error).toBeInstanceOf(HttpError);
        }
      }),
      { numRuns: 500 },
    );
  });

  it.each([
    ['deeply nested', '('.repeat(250) + ')'.repeat(250)],
    ['deeply nested calls', `${'abs('.repeat(99)}1${')'.repeat(99)}`],
    ['towers of powers', 'pow(9, pow(9, pow(9, pow(9, pow(9, pow(9, 9))))))'],
  ])('that is made to be slow (%s) does not hold up the worker', (_title, text) => {
    const started = performance.now();
    try {
      evaluate(text, 5);
    } catch (error) {
      expect(error).toBeInstanceOf(HttpError);
    }
    // Evaluating this takes a millisecond. With exponential growth it would take minutes.
    expect(performance.now() - started).toBeLessThan(limitForHangsMs);
  });
});
