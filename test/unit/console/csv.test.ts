import { describe, expect, it } from 'vitest';
import { csvOf } from '../../../console/src/lists/csv.ts';

describe('A list as CSV', () => {
  it('has a column for each field of any row, and quotes cells with separators', () => {
    expect(
      csvOf([
        { id: 'a', text: 'two, "words"' },
        { id: 'b', labels: ['x', 'y'], count: -1 },
      ]),
    ).toBe('id,text,labels,count\r\na,"two, ""words""",,\r\nb,,"[""x"",""y""]",-1\r\n');
  });

  it.each([
    ['\n=1+1', `"'\n=1+1"`],
    ['\t=1', `"'\t=1"`],
    ['\r=1', `"'\r=1"`],
    ['＝1+1', "'＝1+1"],
    ['＋1', "'＋1"],
    ['－1', "'－1"],
    ['＠SUM(A1)', "'＠SUM(A1)"],
    ['東京;大阪', '"東京;大阪"'],
    ['a;=1+1;-2', `"a;'=1+1;'-2"`],
    [['a;＝1'], `"[""a;'＝1""]"`],
    [-1, '-1'],
    ['a=1 - 2', 'a=1 - 2'],
  ])('has %j as %s, which no program reads as a formula, whichever separator it expects', (value, cell) => {
    expect(csvOf([{ a: value }])).toBe(`a\r\n${cell}\r\n`);
  });

  it('has no cell that a program would read as a formula', () => {
    expect(csvOf([{ a: '=1+1', b: '@x', c: '-2', d: 'x=1' }])).toBe("a,b,c,d\r\n'=1+1,'@x,'-2,x=1\r\n");
  });
});
