import { describe, expect, it } from 'vitest';
import { canonicalize, ConfigReader } from '../../../lambdas/request/dialect.ts';

const prefixes = ['Svc', 'Upstash'];

describe('a request’s configuration', () => {
  it('is recognized by its canonical names with any prefix', () => {
    const { config, prefix } = canonicalize(
      [['upstash-retry-delay', '1']],
      [['upstash-delay', '2s']],
      prefixes,
    );
    expect([...config]).toEqual([
      ['delay', ['2s']],
      ['retry-delay', ['1']],
    ]);
    expect(prefix).toBe('Upstash');
  });

  it('uses Svc by default, and if both prefixes occur', () => {
    expect(canonicalize([['accept', '*/*']], [], prefixes).prefix).toBe('Svc');
    expect(
      canonicalize(
        [
          ['upstash-delay', '1s'],
          ['svc-method', 'PUT'],
        ],
        [],
        prefixes,
      ).prefix,
    ).toBe('Svc');
  });

  it('prefers a header to a query parameter', () => {
    const { config } = canonicalize([['svc-retries', '1']], [['svc-retries', '2']], prefixes);
    expect(config.get('retries')).toEqual(['1']);
  });

  it('leaves other headers to the destination', () => {
    const { otherQuery, otherHeaders, queryToken } = canonicalize(
      [
        ['content-type', 'a/b'],
        ['svc-x', '1'],
        ['upstash-y', '2'],
      ],
      [
        ['a', '1'],
        ['svc_token', 't'],
        ['a', '2'],
        ['svc-delay', '1s'],
        ['upstash-x', ''],
      ],
      ['Svc'],
    );
    expect(otherQuery).toEqual([
      ['a', '1'],
      ['a', '2'],
      ['upstash-x', ''],
    ]);
    expect(otherHeaders).toEqual([
      ['content-type', 'a/b'],
      ['upstash-y', '2'],
    ]);
    expect(queryToken).toBe('t');
  });

  it('recognizes the token parameter of each dialect', () => {
    expect(canonicalize([], [['qstash_token', 't']], prefixes)).toMatchObject({
      queryToken: 't',
      prefix: 'Upstash',
    });
    expect(canonicalize([], [['acme_token', 't']], ['Acme'])).toMatchObject({
      queryToken: 't',
      prefix: 'Acme',
    });
  });

  it('is named in errors as its author wrote it', () => {
    const { config, prefix } = canonicalize([['upstash-failure-callback-retries', 'x']], [], prefixes);
    const reader = new ConfigReader(prefix, config).scope('failure-callback');
    expect(reader.field('retries')).toBe('Upstash-Failure-Callback-Retries');
    expect(reader.single('retries')).toBe('x');
  });
});
