import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { redacted, redactHeaders } from '../../../lambdas/message/redaction.ts';
import { parseRedaction, type Redaction } from '../../../lambdas/options/redaction.ts';

const hash = (text: string): string => `REDACTED:${createHash('sha256').update(text).digest('hex')}`;

describe('a redaction list', () => {
  it.each<[text: string, redaction: Redaction]>([
    ['body', { body: true, headers: [] }],
    ['header', { body: false, headers: 'all' }],
    ['header[Authorization]', { body: false, headers: ['authorization'] }],
    ['Body,HEADERS,header[x]', { body: true, headers: 'all' }],
  ])('is read: %s', (text, redaction) => {
    expect(parseRedaction('Svc-Redact-Fields', text)).toEqual(redaction);
  });

  it.each(['', 'body,', 'header[x', 'url'])('is refused: "%s"', (text) => {
    expect(() => parseRedaction('Svc-Redact-Fields', text)).toThrow(
      `Svc-Redact-Fields is ${JSON.stringify(text)}; allowed are body, headers and header[<name>], separated by commas.`,
    );
  });
});

describe('a redacted value', () => {
  it('is shown as its SHA-256', () => {
    expect(redacted('secret')).toBe(hash('secret'));
    expect(redacted(Buffer.from('secret'))).toBe(hash('secret'));
  });

  it('hides the named headers, each value separately', () => {
    const headers = [
      ['x-a', '1'],
      ['x-b', '2'],
      ['x-a', '3'],
    ] as const;
    expect(redactHeaders(headers, { body: false, headers: ['x-a'] })).toEqual([
      ['x-a', hash('1')],
      ['x-b', '2'],
      ['x-a', hash('3')],
    ]);
    expect(redactHeaders(headers, { body: true, headers: [] })).toEqual(headers);
    expect(redactHeaders(headers, { body: false, headers: 'all' }).map(([, value]) => value)).toEqual(
      ['1', '2', '3'].map(hash),
    );
  });
});
