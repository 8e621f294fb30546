/** Why a run failed, in a line of a list. */

interface Failed {
  readonly error?: string | undefined;
  readonly responseBody?: string | undefined;
}

/** The first line of the error: what the function threw, or else what was answered, or why there was no answer. */
export function firstLineOf({ error, responseBody = '' }: Failed): string {
  const message = fieldOf(responseBody, 'message');
  const thrown = [fieldOf(responseBody, 'error'), message].filter(Boolean).join(': ');
  const text = message === undefined ? (error ?? responseBody) : thrown;
  return text.trim().split(/\r?\n/, 1)[0] ?? '';
}

/**
 * Reads a text from the JSON that endpoints answer when a function throws: both clients of workflows send `error` and `message`
 * first. Lists have the beginning of an answer only, so it need not be complete.
 */
function fieldOf(body: string, name: 'error' | 'message'): string | undefined {
  const [, literal] =
    new RegExp(String.raw`^\s*\{.*?"${name}"\s*:\s*("(?:[^"\\]|\\.)*")`, 's').exec(body) ?? [];
  if (literal === undefined) return undefined;
  try {
    return String(JSON.parse(literal));
  } catch {
    return undefined;
  }
}

/** The status with which an endpoint says that its run is not to be retried. */
const notRetried = 489;

export const statusOfRun = (status: number): string =>
  status === 0 ? 'no answer' : status === notRetried ? 'not to be retried' : String(status);
