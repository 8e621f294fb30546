import { describe, expect, it } from 'vitest';
import {
  changesBetween,
  formatChanges,
  hideForwarded,
  joinedChanges,
  mostChangesBytes,
  parseChanges,
} from '../../../lambdas/audit/changes.ts';
import { shownConfig } from '../../../lambdas/shared/headers.ts';

describe('the changes of an entry', () => {
  it('are the fields that differ, including those of an inner record', () => {
    const before = { parallelism: 1, paused: false, header: { 'X-Tenant': ['a'] }, list: ['a', 'b'] };
    const after = { parallelism: 5, paused: false, header: { 'X-Stage': ['b'] }, list: ['a'] };
    expect(changesBetween(before, after)).toEqual([
      { field: 'parallelism', before: '1', after: '5' },
      { field: 'header.X-Tenant', before: 'a', after: undefined },
      { field: 'list', before: 'a, b', after: 'a' },
      { field: 'header.X-Stage', before: undefined, after: 'b' },
    ]);
    expect(changesBetween(after, after)).toEqual([]);
    expect(changesBetween(undefined, { a: null, b: undefined, c: 1 })).toEqual([
      { field: 'c', before: undefined, after: '1' },
    ]);
  });

  it('show no credentials of a callback, and only that a forwarded header changed', () => {
    const config = (secret: string, host: string) =>
      new Map([
        ['forward-authorization', [secret]],
        ['callback-forward-x-key', [secret]],
        ['failure-callback', [`https://user:${secret}@${host}/`]],
        ['retries', ['3']],
      ]);
    const valuesOf = (...given: Parameters<typeof config>) => shownConfig('Svc', config(...given));
    const changes = changesBetween(valuesOf('one', 'a.example'), valuesOf('two', 'b.example'), hideForwarded);
    expect(changes).toEqual([
      { field: 'Svc-Forward-Authorization', before: '…', after: '…' },
      { field: 'Svc-Callback-Forward-X-Key', before: '…', after: '…' },
      { field: 'Svc-Failure-Callback', before: 'https://a.example/', after: 'https://b.example/' },
    ]);
  });

  it('show that the secret of a URL changed, and not what it is, also in the names of fields', () => {
    const valuesOf = (secret: string) => ({
      destination: `https://example.com/pay?k=${secret}`,
      endpoints: { [`https://example.com/a?k=${secret}`]: `https://example.com/a?k=${secret}` },
      list: [`https://example.com/?${secret}`, 'https://example.com/b'],
    });
    const destination = 'https://example.com/pay?…';
    expect(changesBetween(valuesOf('one'), valuesOf('two'))).toEqual([
      { field: 'destination', before: destination, after: destination },
      { field: 'endpoints.https://example.com/a?…', before: 'https://example.com/a?…', after: undefined },
      {
        field: 'list',
        before: 'https://example.com/?… https://example.com/b',
        after: 'https://example.com/?… https://example.com/b',
      },
      { field: 'endpoints.https://example.com/a?…', before: undefined, after: 'https://example.com/a?…' },
    ]);
  });

  it('are shortened, each and together, and say how many are left out', () => {
    const long = Object.fromEntries(
      Array.from({ length: 90 }, (_, number) => [`field${number}`, '😀'.repeat(500)]),
    );
    const changes = changesBetween(undefined, long);
    expect(changes[0]?.after).toHaveLength(200);
    const text = formatChanges(changes) ?? '';
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(mostChangesBytes);
    const read = parseChanges(text);
    expect(read.at(-1)).toEqual({ field: '…', after: `${90 - read.length + 1} more` });
    expect(read.length).toBeGreaterThan(3);
    expect([formatChanges([]), parseChanges(undefined)]).toEqual([undefined, []]);
  });

  it('of repetitions compare the first with the last', () => {
    const first = changesBetween({ cron: 'a', retries: 1, label: 'x' }, { cron: 'b', retries: 2 });
    const last = changesBetween({ cron: 'b', delay: 5 }, { cron: 'c', delay: 6 });
    expect(joinedChanges(first, last)).toEqual([
      { field: 'cron', before: 'a', after: 'c' },
      { field: 'retries', before: '1', after: '2' },
      { field: 'label', before: 'x', after: undefined },
      { field: 'delay', before: '5', after: '6' },
    ]);
    expect(joinedChanges(first, first)).toEqual(first);
  });
});
