import { assert, constantFrom, nat, property, record } from 'fast-check';
import { expect, it } from 'vitest';
import { formatEntry, parseEntry, type Entry } from '../../../../lambdas/lane/rules/entry.ts';

const messageId = 'msg_01JDABCDEFGHJKMNPQRSTVWXYZ';

it('an entry of a line is read as it was written, and its format matches stored lines', () => {
  const entries = record({
    messageId: constantFrom(messageId),
    attempt: nat(),
    queue: constantFrom('short', 'long'),
  });
  assert(
    property(entries, (entry: Entry) => {
      expect(parseEntry(formatEntry(entry))).toEqual(entry);
    }),
  );
  expect(formatEntry({ messageId, attempt: 12, queue: 'short' })).toBe('01JDABCDEFGHJKMNPQRSTVWXYZ/12s');
  expect(formatEntry({ messageId, attempt: 0, queue: 'long' })).toBe('01JDABCDEFGHJKMNPQRSTVWXYZ/0l');
});

it.each([
  'process#1',
  '01JDABCDEFGHJKMNPQRSTVWXYZ/s',
  '01JDABCDEFGHJKMNPQRSTVWXYZ/xs',
  '01JDABCDEFGHJKMNPQRSTVWXYZ/0x',
  '01JDABCDEFGHJKMNPQRSTVWXYZ/0s/0s',
  '01JDABCDEFGHJKMNPQRSTVWXY/0s',
  '01jdabcdefghjkmnpqrstvwxyz/0s',
  'x01JDABCDEFGHJKMNPQRSTVWXYZ/0s',
])('%j is not an entry', (text) => {
  expect(() => parseEntry(text)).toThrow(`${text} is not an entry of a lane.`);
});
