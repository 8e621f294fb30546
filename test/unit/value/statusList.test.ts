import { describe, expect, it } from 'vitest';
import { isListed, parseStatusList } from '../../../lambdas/value/statusList.ts';

describe('a list of statuses', () => {
  it.each([
    ['400-499,!408,!429', '400-499,!408,!429'],
    [' 404 , 410 ', '404,410'],
    ['!404,400-499', '!404,400-499'],
    ['599-300', '599-300'],
    [Array.from({ length: 11 }, () => '404').join(), Array.from({ length: 11 }, () => '404').join()],
  ])('%j is taken', (text, list) => {
    expect(parseStatusList(text)).toBe(list);
  });

  it.each(['', '!404', '200', '299-310', '600', '4xx', '400-', '400,,404', '!!404,400-499'])(
    '%j is refused',
    (text) => {
      expect(parseStatusList(text)).toBeUndefined();
    },
  );

  it('has the statuses in a range that are not left out', () => {
    const listed = (list: string): readonly number[] =>
      [0, 302, 399, 400, 408, 429, 499, 500].filter((status) => isListed(list, status));
    expect(listed('400-499,!408,!429')).toEqual([400, 499]);
    expect(listed('!408-429,400-499')).toEqual([400, 499]);
    expect(listed('500-400')).toEqual([400, 408, 429, 499, 500]);
    expect(listed('302')).toEqual([302]);
  });
});
