import { expect, it } from 'vitest';
import { firstLineOf, returnedIn, statusOfRun, thrownIn } from '../../../console/src/screens/runs/failure.ts';

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

it('What a function threw has its stack, though the end of the answer is not kept', () => {
  const body = JSON.stringify({ error: 'Error', message: 'away', stack: 'Error: away\n    at here' });
  expect(thrownIn(body)).toEqual({ sentence: 'Error: away', stack: 'Error: away\n    at here' });
  expect(thrownIn(body.slice(0, -5))).toEqual({ sentence: 'Error: away', stack: 'Error: away\n    at h' });
  expect(thrownIn('{"other":1}')).toBeUndefined();
});

it.each([
  ['{"result":"dealt with"}', 'dealt with'],
  ['{"result":{"a":1}}', '{"a":1}'],
  ['{}', undefined],
  ['{"other":1}', '{"other":1}'],
  ['<html>', '<html>'],
  ['[]', '[]'],
  ['null', 'null'],
])('The answer %s of a failure function is shown as what it returned: %s', (answer, returned) => {
  expect(returnedIn(answer)).toBe(returned);
});
