import { expect } from 'vitest';
import { errorOf, type Answer } from './publish.ts';

/** Expects a refusal with this status, and with a sentence that has this part. */
export async function expectRefusal(
  asked: Answer | Promise<Answer>,
  status: number,
  says: string | RegExp,
): Promise<void> {
  const answer = await asked;
  const error: unknown =
    typeof says === 'string' ? expect.stringContaining(says) : expect.stringMatching(says);
  expect([answer.status, errorOf(answer)]).toEqual([status, error]);
}
