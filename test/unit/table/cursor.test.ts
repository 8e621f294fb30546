import { describe, expect, it } from 'vitest';
import { openCursor, sealCursor, type Place } from '../../../lambdas/table/cursor.ts';

const key = 'the master secret';
const place: Place = { time: 1_700_000_000_000, id: 'msg_01M7W4BM2WG14BG3V1YN3YTREK~000000', shown: 2 };

describe('a cursor', () => {
  it.each<Place>([place, { time: 0, id: 'a/b/1' }, { time: 0, id: 'two\nlines' }])(
    'brings back its place: %o',
    (given) => {
      const opened = openCursor(key, 'acct/logs', sealCursor(key, 'acct/logs', given));
      expect(opened).toEqual({ ...given, shown: given.shown });
    },
  );

  it('can be put into a URL unchanged', () => {
    expect(sealCursor(key, 'acct/logs', place)).toMatch(/^[A-Za-z0-9_-]+$/);
  });

  it.each(['other/logs', 'acct/dlq', 'acct/messages', ''])('is invalid in %s', (scope) => {
    const cursor = sealCursor(key, 'acct/logs', place);
    expect(() => openCursor(key, scope, cursor)).toThrow(/^cursor is not one that this list handed out/);
  });

  it('is refused if any of its bytes is changed, missing or added', () => {
    const bytes = Buffer.from(sealCursor(key, 'acct/logs', place), 'base64url');
    const open = (changed: Uint8Array) => () =>
      openCursor(key, 'acct/logs', Buffer.from(changed).toString('base64url'));
    for (let index = 0; index < bytes.length; index += 1) {
      const changed = Uint8Array.from(bytes, (byte, place_) => (place_ === index ? byte ^ 1 : byte));
      expect(open(changed)).toThrow(/^cursor is not/);
      expect(open(bytes.subarray(0, index))).toThrow(/^cursor is not/);
    }
    expect(open(Buffer.concat([bytes, Buffer.from('1')]))).toThrow(/^cursor is not/);
  });

  it('made with another key is refused', () => {
    expect(() => openCursor('another', 'acct/logs', sealCursor(key, 'acct/logs', place))).toThrow(/^cursor/);
  });
});
