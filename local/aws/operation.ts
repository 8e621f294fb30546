import * as z from 'zod/mini';
import { AwsError } from './awsError.ts';

/** An operation of a stand-in. It takes an unchecked input, and returns the answer as JSON. */
export type Operation<Context> = (context: Context, input: unknown) => unknown;

/**
 * Makes operations that first check their input.
 *
 * @param code the error code for an invalid input
 * @param wordsOf describes the problem
 */
export function checkedOperations<Context>(
  code: string,
  wordsOf: (input: unknown, error: z.core.$ZodError) => string = (_input, error) => z.prettifyError(error),
) {
  return <Schema extends z.ZodMiniType>(
    schema: Schema,
    run: (context: Context, input: z.infer<Schema>) => unknown,
  ): Operation<Context> =>
    (context, input) => {
      const parsed = schema.safeParse(input);
      if (!parsed.success) throw new AwsError(code, wordsOf(input, parsed.error));
      return run(context, parsed.data);
    };
}
