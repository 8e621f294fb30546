/** Why a run failed, in a line of a list. */
import * as z from 'zod/mini';

interface Failed {
  readonly error?: string | undefined;
  readonly responseBody?: string | undefined;
}

/** What endpoints answer when the function throws: both clients of workflows send these fields. */
const thrown = z.object({ error: z.optional(z.string()), message: z.string() });

/** The first line of the error: what the function threw, or else what was answered, or why there was no answer. */
export function firstLineOf({ error, responseBody = '' }: Failed): string {
  const read = thrown.safeParse(parsed(responseBody));
  const text = read.success
    ? [read.data.error, read.data.message].filter(Boolean).join(': ')
    : (error ?? responseBody);
  return text.trim().split(/\r?\n/, 1)[0] ?? '';
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The status with which an endpoint says that its run is not to be retried. */
const notRetried = 489;

export const statusOfRun = (status: number): string =>
  status === 0 ? 'no answer' : status === notRetried ? 'not to be retried' : String(status);
