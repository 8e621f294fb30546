import * as z from 'zod/mini';
import { AwsError } from './awsError.ts';

/** An operation of a stand-in: takes a request's input unchecked, and returns the answer as JSON. */
export type Operation<Context> = (context: Context, input: unknown) => unknown;

/**
 * Makes operations that check their input first.
 *
 * @param code the code that refuses a wrong input
 */
export function checkedOperations<Context>(code: string) {
  return <Schema extends z.ZodMiniType>(
    schema: Schema,
    run: (context: Context, input: z.infer<Schema>) => unknown,
  ): Operation<Context> =>
    (context, input) => {
      const parsed = schema.safeParse(input);
      if (!parsed.success) throw new AwsError(code, z.prettifyError(parsed.error));
      return run(context, parsed.data);
    };
}
