import { expect, it } from 'vitest';
import { type Entry, listed } from '../../../../lambdas/workflow/rules/entry.ts';

it('A list has the payload, however it was sent, and steps', () => {
  const entry = (messageId: string, callType: Entry['callType']): Entry => ({
    messageId,
    body: new Uint8Array(),
    callType,
  });
  const all = [
    entry('payload', 'toCallback'),
    entry('one', 'step'),
    entry('call', 'toCallback'),
    entry('two', 'step'),
    entry('answer', 'fromCallback'),
  ];
  expect(listed(all).map(({ messageId }) => messageId)).toEqual(['payload', 'one', 'two']);
});
