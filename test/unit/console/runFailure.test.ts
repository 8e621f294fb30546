import { expect, it } from 'vitest';
import { firstLineOf, statusOfRun } from '../../../console/src/screens/runs/failure.ts';

it.each([
  ['{"error":"TypeError","message":"x is \\"odd\\"\\nand more","stack":"Err', 'TypeError: x is "odd"'],
  [' {"message":"gone"}', 'gone'],
  ['{"error":"not told apart"}', '{"error":"not told apart"}'],
  ['{"message":"cut in the midd', '{"message":"cut in the midd'],
  [String.raw`{"message":"\q"}`, String.raw`{"message":"\q"}`],
  ['<h1>Bad gateway</h1>\nnginx', '<h1>Bad gateway</h1>'],
  ['', ''],
])('The answer %s of an endpoint is told as %s', (responseBody, line) => {
  expect(firstLineOf({ responseBody })).toBe(line);
});

it('Where there was no answer, the reason is told', () => {
  expect(firstLineOf({ error: 'connect ECONNREFUSED' })).toBe('connect ECONNREFUSED');
  expect([0, 489, 500].map(statusOfRun)).toEqual(['no answer', 'not to be retried', '500']);
});
