import { describe, expect, it } from 'vitest';
import { fieldsOfQuery } from './logsInsights.ts';
import { faultInExpression } from './metricMath.ts';

describe('the check of metric math', () => {
  it.each(['m0', 'm0 / 1000', 'FILL(m0, 0) + FILL(m0, 0)', 'MAX([FILL(m0, 0) / 60000, FILL(m0, 0) - 900])'])(
    'accepts %s',
    (expression) => {
      expect(faultInExpression(expression, ['m0'])).toBeUndefined();
    },
  );

  it.each<[string, readonly string[], RegExp]>([
    ['m1', ['m1', 'm0'], /m0 is not used/],
    ['m0 + m1', ['m0'], /no metric m1/],
    ['M0', ['M0'], /no id/],
    ['[m0, m0]', ['m0'], /watches one series/],
    ['MAX(m0)', ['m0'], /no MAX\(series\)/],
    ['MAX([m0, 1])', ['m0'], /something else than series/],
    ['MAXIMUM([m0])', ['m0'], /no MAXIMUM/],
    ['FILL(m0)', ['m0'], /no FILL/],
    ['m0 + "1"', ['m0'], /no number/],
    ['m0 % 2', ['m0'], /has no BinaryExpression/],
    ['m0 +', ['m0'], /Expected/],
  ])('refuses %s', (expression, ids, fault) => {
    expect(faultInExpression(expression, ids)).toMatch(fault);
  });
});

describe('the check of Logs Insights', () => {
  it('finds the fields of the log that a query uses', () => {
    expect(
      fieldsOfQuery(
        'filter level = "ERROR"\n| parse url /\\/\\/(?<host>[^\\/]+)/\n| stats count(*) as times, max(durationMs) as longest by host\n| sort times desc\n| limit 5',
      ),
    ).toEqual(['level', 'url', 'durationMs']);
  });

  it.each([
    ['select url', /no command/],
    ['filter level == "ERROR"', /condition/],
    ['filter user-agent = "x"', /condition/],
    ['filter message like /(/', /Invalid regular expression/],
    ['stats count() by url', /aggregate/],
    ['stats count(*) as times by url\n| sort level desc', /did not make/],
    ['fields url\n| sort url', /sort/],
    ['limit 100000', /limit/],
  ])('refuses %s', (query, fault) => {
    expect(() => fieldsOfQuery(query)).toThrow(fault);
  });
});
