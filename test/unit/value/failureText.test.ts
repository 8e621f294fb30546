import { expect, it } from 'vitest';
import { failureText, firstLineOf, thrownIn } from '../../../lambdas/value/failureText.ts';

it.each([
  ['{"error":"TypeError","message":"x is \\"odd\\"\\nand more","stack":"Err', 'TypeError: x is "odd"'],
  [' {"message":"gone"}', 'gone'],
  ['{"error":"not told apart"}', '{"error":"not told apart"}'],
  [String.raw`{"message":"\q"}`, String.raw`{"message":"\q"}`],
  ['', ''],
])('The answer %s of an endpoint is shown as %s', (responseBody, line) => {
  expect(firstLineOf({ responseBody })).toBe(line);
});

it('The reason is shown if there was no answer', () => {
  expect(firstLineOf({ error: 'connect ECONNREFUSED' })).toBe('connect ECONNREFUSED');
});

it('An error of a function has its stack, even if the answer’s end was not kept', () => {
  const body = JSON.stringify({ error: 'Error', message: 'away', stack: 'Error: away\n    at here' });
  expect(thrownIn(body)).toEqual({ sentence: 'Error: away', stack: 'Error: away\n    at here' });
  expect(thrownIn(body.slice(0, -5))).toEqual({ sentence: 'Error: away', stack: 'Error: away\n    at h' });
  expect(thrownIn('{"other":1}')).toBeUndefined();
});

it.each([
  ['Order 4711 of cus_9f3kX7Qp was not found', 'Order … of … was not found'],
  ['3b241101-e2bb-4255-8caf-4136c566a962: no such customer', '…: no such customer'],
  ['timeout after 30,000 ms at 10.0.0.1:5432', 'timeout after … ms at …'],
  ['{"error":"Error","message":"invoice inv_00012345 is paid"}', 'Error: invoice … is paid'],
  ['the database is away', 'the database is away'],
  ['utf8 and sha256 stay words', 'utf… and sha… stay words'],
])('The reason %s has one kind: %s', (responseBody, text) => {
  expect(failureText({ responseBody }, 500)).toBe(text);
});

it('A failure without a reason is identified by its status, and a long reason by its beginning', () => {
  expect(failureText({}, 503)).toBe('answered 503');
  expect(failureText({}, 0)).toBe('no answer');
  expect(failureText({ responseBody: '  \n' }, 500)).toBe('answered 500');
  const long = failureText({ responseBody: 'word '.repeat(10_000) }, 500);
  expect([long.length <= 200, long.startsWith('word word')]).toEqual([true, true]);
});
