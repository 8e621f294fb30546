import * as fc from 'fast-check';
import { callbackScopes } from '../../../lambdas/shared/config.ts';
import { headerName } from '../../../lambdas/shared/headers.ts';
import { describe, expect, it } from 'vitest';
import { newAccount } from '../../../lambdas/account/account.ts';
import { settings as configuration } from '../../../lambdas/options/described.ts';
import type { Setting } from '../../../lambdas/options/option.ts';
import { parseDurationMs } from '../../../lambdas/value/duration.ts';
import { HttpError } from '../../../lambdas/error/httpError.ts';
import {
  parseOverrides,
  parsePublishOptions,
  type PublishOptions,
} from '../../../lambdas/request/publishOptions.ts';
import { checkerOf, document } from '../../support/contract.ts';
import { valuesOf } from '../../support/fuzz/values.ts';
import * as z from 'zod/mini';

const account = newAccount({ id: 'one', plan: 'paid', region: 'eu-central-1', createdAt: 0 });
const rules = {
  allowed: { hosts: new Set<string>(), networks: [] },
  own: new Set<string>(),
  arns: { deployment: [], account: [] },
};
/** Unix milliseconds, a little before the times in the table’s examples. */
const now = 1_767_225_000_000;

const callbacks = { callback: 'https://example.com/a', 'failure-callback': 'https://example.com/b' };

const requestWith = (config: Readonly<Record<string, string>>) => ({
  prefix: 'Svc',
  config: new Map(Object.entries(config).map(([name, value]) => [name.replace('*', 'x-tenant'), [value]])),
  otherHeaders: [['x-other', 'header']] as const,
});
const options = (config: Readonly<Record<string, string>>): PublishOptions =>
  parsePublishOptions(requestWith({ ...callbacks, ...config }), account, rules, now);

const entries: readonly (readonly [string, Setting])[] = Object.entries(configuration);
const examples = new Map(entries.map(([name, { example }]) => [name, example]));

function exampleOf(name: string, scope = ''): Readonly<Record<string, string>> {
  const pairs = [
    ['flow-control-key', 'flow-control-value'],
    ['debounce', 'debounce-id'],
  ];
  const isOf = (pair: readonly string[]): boolean =>
    pair.includes(name) || (name === 'debounce-max' && pair.includes('debounce'));
  const names = new Set([...(pairs.find(isOf) ?? []), name]);
  return Object.fromEntries([...names].map((one) => [`${scope}${one}`, examples.get(one) ?? '']));
}

describe('every setting in the configuration table', () => {
  it.each(entries.filter(([, { scopes }]) => scopes.includes('message')))(
    'is read from a publish: %s',
    (name) => {
      expect(options(exampleOf(name))).not.toEqual(options({}));
    },
  );

  it.each(entries.filter(([, { scopes }]) => !scopes.includes('message')))(
    'is not read from a publish when it is not said to be: %s',
    (name) => {
      expect(options(exampleOf(name))).toEqual(options({}));
    },
  );

  describe.each(callbackScopes)('behind %s', (scope) => {
    it.each(entries)('is read where the table says, and nowhere else: %s', (name, { scopes }) => {
      const changed = options(exampleOf(name, `${scope}-`));
      if (scopes.includes('callback')) expect(changed).not.toEqual(options({}));
      else expect(changed).toEqual(options({}));
    });
  });

  it.each(entries)('changes a retry where the table says, and only there: %s', (name, { scopes }) => {
    const changed = parseOverrides(requestWith(exampleOf(name)), account, rules, now);
    expect(Object.keys(changed).length > 0).toBe(scopes.includes('retry'));
  });
});

/** @returns the status with which a value is refused, or undefined if it is accepted */
function refusalOf(name: keyof typeof configuration, value: string): number | undefined {
  try {
    options({ ...exampleOf(name), [name]: value });
    return undefined;
  } catch (error) {
    if (error instanceof HttpError) return error.status;
    throw error;
  }
}

describe('the table’s schema of a value', () => {
  it.each<[name: keyof typeof configuration, bad: readonly unknown[]]>([
    ['method', ['FETCH', '']],
    ['timeout', ['30', '1d', 'soon', '', '0s', '0h0m']],
    ['retries', [-1, 1.5, 'many']],
    ['retry-delay', ['', 'x'.repeat(501)]],
    ['delay', ['10', 'soon', '']],
    ['not-before', [-1, 'tomorrow']],
    ['header-forward', ['yes', 1]],
    ['callback', ['example', '/path']],
    ['label', ['', ' ', 'a,,b', 'x'.repeat(101), 'x,'.repeat(10) + 'x']],
    ['forward-*', ['a\u0000b', 'a\nb']],
    ['flow-control-key', ['', 'x'.repeat(257)]],
    ['flow-control-value', ['', 'parallelism', 'rate=1,,']],
    ['fair-key', ['', 'x'.repeat(65)]],
    ['priority', ['', 'urgent', 'high,low']],
    ['redact-fields', ['']],
    ['deduplication-id', ['', 'x'.repeat(1_025)]],
  ])('refuses what the parser refuses: %s', (name, bad) => {
    for (const value of bad) {
      const given = { ...exampleOf(name), [name]: String(value) };
      expect(() => options(given), `${headerName('Svc', name)}: ${String(value)}`).toThrow(HttpError);
      expect(z.safeParse(checkerOf(configuration[name].schema), value).success, String(value)).toBe(false);
    }
  });

  it.each<[name: keyof typeof configuration, good: readonly string[]]>([
    ['timeout', ['00m1s', '5474504142h']],
    ['retries', ['9'.repeat(30)]],
    ['delay', ['0s', '5474504142h', `${'9'.repeat(400)}d`]],
    ['not-before', ['0', '99999999999', '9'.repeat(19), '9'.repeat(400)]],
    ['forward-*', ['', '\t', 'caf\u00e9 \u00ff', '\u{1f9fe}']],
    ['label', [' a , b ', '\u{1f9fe}'.repeat(50), Array.from({ length: 10 }, () => 'x'.repeat(100)).join()]],
    ['deduplication-id', ['\u{1f9fe}'.repeat(1_024)]],
  ])('allows what is right, or above a limit that the account has: %s', (name, good) => {
    for (const value of good) {
      expect(refusalOf(name, value), value.slice(0, 60)).not.toBe(400);
      const { schema } = configuration[name];
      if (schema.type !== 'string') continue;
      expect(z.safeParse(checkerOf(schema), value).success, value.slice(0, 60)).toBe(true);
    }
  });

  /** No schema describes these languages. Their parsers have separate tests. */
  const languages = new Set<string>([
    'retry-delay',
    'flow-control-key',
    'flow-control-value',
    'fair-key',
    'redact-fields',
  ]);
  /** The shortest and longest durations in milliseconds, which a schema cannot express. */
  const bounds: Readonly<Record<string, readonly [number, number]>> = {
    deferred: [1_000, 7 * 24 * 3_600_000],
    debounce: [1_000, 900_000],
    'debounce-max': [30_000, 7 * 24 * 3_600_000],
  };
  const described = entries
    .filter(([name, { scopes }]) => scopes.includes('message') && !languages.has(name))
    .map(([name]) => name as keyof typeof configuration);

  it.each(described)('is accepted by the parser, or is above a limit: %s', (name) => {
    const values = valuesOf(configuration[name].schema, { within: document, origin: 'https://example.com' });
    fc.assert(
      fc.property(values, (value) => {
        // Each unit of a duration may occur once.
        fc.pre(
          !/^\w*?\d([a-z]).*\d\1/.test(String(value)) ||
            !['delay', 'timeout', ...Object.keys(bounds)].includes(name),
        );
        const [least, most] = bounds[name] ?? [];
        const isWithin = (ms: number): boolean => ms >= (least ?? 0) && ms <= (most ?? Infinity);
        fc.pre(least === undefined || isWithin(parseDurationMs('Svc-Deferred', String(value))));
        expect(refusalOf(name, String(value))).not.toBe(400);
      }),
      { seed: 991, numRuns: 300 },
    );
  });
});
