import { describe, expect, it } from 'vitest';
import { withTrace } from '../../../lambdas/request/traceContext.ts';

const parent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
const state = 'rojo=00f067aa0ba902b7,congo@t61=t61rcWkgMzE';

describe('the trace of a request', () => {
  it('is continued unchanged', () => {
    const trace = [
      ['traceparent', parent],
      ['tracestate', state],
    ] as const;
    expect(withTrace([['x-a', '1']], [...trace, ['x-b', '2']])).toEqual([['x-a', '1'], ...trace]);
    expect(withTrace([], trace.slice(0, 1))).toEqual(trace.slice(0, 1));
  });

  it('is replaced by a named one', () => {
    const own = [['traceparent', 'anything']] as const;
    expect(
      withTrace(own, [
        ['traceparent', parent],
        ['tracestate', state],
      ]),
    ).toEqual(own);
  });

  it.each([
    ['a later version', `cc${parent.slice(2)}`, true],
    ['a later version with more fields', `cc${parent.slice(2)}-what-ever`, true],
    ['more fields', `${parent}-00`, false],
    ['version ff', `ff${parent.slice(2)}`, false],
    ['capital letters', parent.toUpperCase(), false],
    ['no trace', `00-${'0'.repeat(32)}-00f067aa0ba902b7-01`, false],
    ['no span', `00-4bf92f3577b34da6a3ce929d0e0e4736-${'0'.repeat(16)}-01`, false],
    ['nothing', '', false],
  ])('with %s: %s, valid: %s', (_, value, isValid) => {
    expect(withTrace([], [['traceparent', value]])).toEqual(isValid ? [['traceparent', value]] : []);
  });

  it('is ignored if there are two', () => {
    expect(
      withTrace(
        [],
        [
          ['traceparent', parent],
          ['traceparent', parent],
        ],
      ),
    ).toEqual([]);
  });

  it.each([
    ['several headers', ['a=1', 'b=2'], 'a=1,b=2'],
    ['empty members', ['a=1, ,b=2'], 'a=1, ,b=2'],
    ['32 members', [Array.from({ length: 32 }, (_, at) => `k${at}=v`).join()], undefined],
    ['33 members', [Array.from({ length: 33 }, (_, at) => `k${at}=v`).join()], null],
    ['no key', ['=1'], null],
    ['a key in capitals', ['A=1'], null],
    ['an equals sign in a value', ['a=b=c'], null],
  ])('keeps a state with %s, if it is valid', (_, given, expected) => {
    const kept = expected === undefined ? given.join() : expected;
    const headers = given.map((value) => ['tracestate', value] as const);
    expect(withTrace([], [['traceparent', parent], ...headers]).slice(1)).toEqual(
      kept === null ? [] : [['tracestate', kept]],
    );
    // The state is meaningless without its trace.
    expect(withTrace([], headers)).toEqual([]);
  });
});
