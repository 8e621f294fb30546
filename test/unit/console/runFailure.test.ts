import { expect, it } from 'vitest';
import { returnedIn, statusOfRun } from '../../../console/src/screens/runs/failure.ts';

it('The status of a run is shown in words if the endpoint did not answer', () => {
  expect([0, 489, 500].map(statusOfRun)).toEqual(['no answer', 'not to be retried', '500']);
});

it.each([
  ['{"result":"dealt with"}', 'dealt with'],
  ['{"result":{"a":1}}', '{"a":1}'],
  ['{}', undefined],
  ['<html>', '<html>'],
  ['null', 'null'],
])('The answer %s of a failure function is shown as what it returned: %s', (answer, returned) => {
  expect(returnedIn(answer)).toBe(returned);
});
