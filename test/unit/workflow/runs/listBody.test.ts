import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Entry } from '../../../../lambdas/workflow/rules/entry.ts';
import { isLazy, listBody, listBytes } from '../../../../lambdas/workflow/runs/listBody.ts';
import { sampleOf } from '../../../support/sample.ts';

const anyEntry: fc.Arbitrary<Entry> = fc.record({
  messageId: fc.string(),
  body: fc.uint8Array({ maxLength: 200 }),
});

const expected = (entries: readonly Entry[]): string =>
  JSON.stringify(
    entries.map(({ messageId, body }) => ({
      messageId,
      body: Buffer.from(body).toString('base64'),
      callType: 'step',
    })),
  );

describe('the list', () => {
  it('equals JSON.stringify byte for byte, and has the counted length', () => {
    fc.assert(
      fc.property(fc.array(anyEntry, { maxLength: 5 }), (entries) => {
        const list = listBody(entries);
        expect(list.toString()).toBe(expected(entries));
        expect(listBytes(entries)).toBe(list.length);
      }),
      { numRuns: sampleOf(1_000) },
    );
  });

  it.each([0, 1, 2, 3, 49_151, 49_152, 49_153, 98_304, 98_305, 500_000])(
    'has a body of %i bytes in one piece, even as part of a larger buffer',
    (bytes) => {
      const whole = Buffer.alloc(bytes + 20, 'grüße ');
      const entry: Entry = { messageId: 'msg_1', body: whole.subarray(7, 7 + bytes) };
      expect(listBody([entry]).toString()).toBe(expected([entry]));
    },
  );
});

describe('a delivery', () => {
  const lazy = { features: new Set(['LazyFetch'] as const), isUnknownClient: false };
  it.each([
    [3 * 1_024 * 1_024, lazy, false],
    [3 * 1_024 * 1_024 + 1, lazy, true],
    [4_000_000, { features: new Set([]), isUnknownClient: false }, false],
    [4_000_000, { features: new Set([]), isUnknownClient: true }, true],
  ])('of %i bytes is left for the client to read, if it can: %j', (bytes, run, expected) => {
    expect(isLazy(bytes, run)).toBe(expected);
  });
});
