import { describe, expect, it } from 'vitest';
import { inOrder, isBehind, isId } from '../../../lambdas/table/shards.ts';

describe('rows of an index', () => {
  it('have the larger id first if their times are equal', async () => {
    async function* rows() {
      yield* [
        { time: 3, id: 'a' },
        { time: 2, id: 'b' },
        { time: 2, id: 'd' },
        { time: 2, id: 'c' },
        { time: 1, id: 'e' },
        { time: 1, id: 'f' },
      ];
      await Promise.resolve();
    }
    const ids: string[] = [];
    for await (const { id } of inOrder(rows())) ids.push(id);
    expect(ids.join('')).toBe('adcbfe');
  });
});

describe('a row', () => {
  it.each([
    ['older', { time: 1, id: 'x' }, true],
    ['newer', { time: 3, id: 'a' }, false],
    ['of the same moment with a smaller id', { time: 2, id: 'a' }, true],
    ['of the same moment with a larger id', { time: 2, id: 'z' }, false],
    ['at the place', { time: 2, id: 'm' }, false],
  ])('%s than a place is behind it: %o', (_title, row, behind) => {
    expect(isBehind(row, { behind: { time: 2, id: 'm' } })).toBe(behind);
  });

  it('at a place in its middle is not done', () => {
    expect(isBehind({ time: 2, id: 'm' }, { behind: { time: 2, id: 'm', shown: 1 } })).toBe(true);
  });
});

describe('an id', () => {
  it.each([
    ['msg_01M7W4BM2WG14BG3V1YN3YTREK', true],
    ['dlq_01M7W4BM2WG14BG3V1YN3YTREK', false],
    ['msg_01M7W4BM2WG14BG3V1YN3YTREK~000000', false],
    ['msg_01m7w4bm2wg14bg3v1yn3ytrek', false],
    ['', false],
    ['x'.repeat(5_000), false],
  ])('%s is one of a message: %s', (text, is) => {
    expect(isId('msg', text)).toBe(is);
  });
});
