import { describe, expect, it } from 'vitest';
import { deduplicationKey } from '../../../../lambdas/publish/rules/deduplicationKey.ts';

type Settings = Parameters<typeof deduplicationKey>[1];

const message: Settings = {
  accountId: 'acct',
  url: 'https://example.com/',
  topicName: undefined,
  headers: [
    ['content-type', 'text/plain'],
    ['x-a', '1'],
  ],
};
const body = Buffer.from('body');
const byContent = (changed: Partial<Settings> = {}, content: Uint8Array = body): string =>
  deduplicationKey({ by: 'content' }, { ...message, ...changed }, content);
const byId = (id: string, changed: Partial<Settings> = {}): string =>
  deduplicationKey({ by: 'id', id }, { ...message, ...changed }, body);

describe('a deduplication key', () => {
  it('by content is the same for the same content, with its headers in any order', () => {
    expect(byContent({ headers: message.headers.toReversed() })).toBe(byContent());
  });

  it('by content differs with account, destination, headers and body', () => {
    const keys = [
      byContent(),
      byContent({ accountId: 'other' }),
      byContent({ url: 'https://example.com/x' }),
      byContent({ headers: [] }),
      byContent({
        headers: [
          ['content-type', 'text/plain'],
          ['x-a', '2'],
        ],
      }),
      byContent({}, Buffer.from('bodies')),
      byContent({}, new Uint8Array()),
    ];
    expect(new Set(keys).size).toBe(keys.length);
  });

  it('by id depends on nothing else except a group’s endpoints', () => {
    expect(byId('a', { url: 'https://example.com/x', headers: [] })).toBe(byId('a'));
    const keys = [
      byId('a'),
      byId('b'),
      byId('a', { accountId: 'other' }),
      byId('a', { topicName: 'group' }),
      byId('a', { topicName: 'group', url: 'https://example.com/x' }),
      byContent(),
    ];
    expect(new Set(keys).size).toBe(keys.length);
  });

  it('does not change in an upgrade, so a message from before it is not sent again', () => {
    expect(byId('a')).toBe('acct#uWWWaPapri50ts2E90r42Fj1QK2L7wNBN9I44GRyoyg');
    expect(byId('a', { topicName: 'group' })).toBe('acct#1FFCrD7q8mSaKPS7YpjfX00meB1bet_H_35-2v8-OPw');
    expect(byContent()).toBe('acct#U9-cjdJwdIOVVyP2X4E5hJfm-5PqW3ZQaoi8TqAD0Gk');
  });
});
