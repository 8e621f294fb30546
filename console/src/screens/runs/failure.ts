/** Why a run failed, in a line of a list. */

interface Failed {
  readonly error?: string | undefined;
  readonly responseBody?: string | undefined;
}

/** An error that a function threw. */
interface Thrown {
  /** Its name and its message. */
  readonly sentence: string;
  readonly stack: string | undefined;
}

/** The first line of the error: what the function threw, or else what was answered, or why there was no answer. */
export function firstLineOf({ error, responseBody = '' }: Failed): string {
  const text = thrownIn(responseBody)?.sentence ?? error ?? responseBody;
  return text.trim().split(/\r?\n/, 1)[0] ?? '';
}

/** Reads what a function threw from the answer of its endpoint; undefined for another answer. */
export function thrownIn(body: string): Thrown | undefined {
  const message = fieldOf(body, 'message');
  if (message === undefined) return undefined;
  const sentence = [fieldOf(body, 'error'), message].filter(Boolean).join(': ');
  return { sentence, stack: fieldOf(body, 'stack') };
}

/**
 * Reads a text from the JSON that endpoints answer when a function throws: both clients of workflows send `error`, `message` and
 * `stack`. Only the beginning of an answer is kept, so it need not be complete.
 */
function fieldOf(body: string, name: 'error' | 'message' | 'stack'): string | undefined {
  // A stack is of use without its end, too.
  const end = name === 'stack' ? '' : '"';
  const [, literal] =
    new RegExp(String.raw`^\s*\{.*?"${name}"\s*:\s*("(?:[^"\\]|\\.)*)${end}`, 's').exec(body) ?? [];
  if (literal === undefined) return undefined;
  try {
    return String(JSON.parse(`${literal}"`));
  } catch {
    return undefined;
  }
}

/**
 * Reads what a failure function returned from the answer of its endpoint: clients of workflows answer `{"result":…}`, or `{}` where
 * it returned nothing.
 *
 * @returns the answer itself where it has another form
 */
export function returnedIn(answer: string): string | undefined {
  const read = parsed(answer);
  if (typeof read !== 'object' || read === null || Array.isArray(read)) return answer;
  if (Object.keys(read).length === 0) return undefined;
  if (!('result' in read)) return answer;
  return typeof read.result === 'string' ? read.result : JSON.stringify(read.result);
}

/** Endpoints may answer anything, so a text that is no JSON is undefined. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The status with which an endpoint says that its run is not to be retried. */
export const notRetried = 489;

export const statusOfRun = (status: number): string =>
  status === 0 ? 'no answer' : status === notRetried ? 'not to be retried' : String(status);
