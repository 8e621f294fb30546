import * as z from 'zod/mini';
import { AwsError } from './awsError.ts';

/** An operation of a stand-in: takes a request's input unchecked, and returns the answer as JSON. */
export type Operation<Context> = (context: Context, input: unknown) => unknown;

/**
 * Makes operations that check their input first.
 *
 * @param code the code that refuses a wrong input
 * @param wordsOf writes what is wrong, from the input and the issues
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
