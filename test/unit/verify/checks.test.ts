import { expect, it } from 'vitest';
import { afterChecks } from '../../../verify/after/checks.ts';
import { beforeChecks } from '../../../verify/before/checks.ts';

it('Each check has a unique name, and says what it shows and what to do', () => {
  const names = [...beforeChecks, ...afterChecks].map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
  for (const { shows, remedy } of [...beforeChecks, ...afterChecks]) {
    expect(shows).toMatch(/^[a-z].*[^.]$|^(AWS|API|Lambda|CloudWatch|CloudFormation|DynamoDB)/);
    expect(remedy).toMatch(/^.*[.?]$/);
  }
});
