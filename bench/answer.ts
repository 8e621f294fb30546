import * as z from 'zod/mini';

const success = z.union([
  z.object({ statusCode: z.literal(200) }),
  z.object({ batchItemFailures: z.array(z.never()) }),
]);

/** @throws Error if a handler failed: measuring failures says nothing */
export function checkAnswer(answer: unknown): void {
  if (!success.safeParse(answer).success) throw new Error(`The handler answered ${JSON.stringify(answer)}.`);
}
