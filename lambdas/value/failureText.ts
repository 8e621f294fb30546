/** The reason of a failure in words: what a function threw, or else what was answered, or why there was no answer. */

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

/** The first line of the reason; empty where the answer had no body. */
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

/** Characters of a reason by which failures are told apart. */
const longestReason = 200;

/** The parts of a reason that differ between failures of one kind: ids, then numbers. A word of eight characters with a digit counts as an id. */
const differing: readonly RegExp[] = [
  /\b[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}\b/gi,
  /\b(?=\w*\d)\w{8,}\b/g,
  /\d+(?:[.,:]\d+)*/g,
];

/**
 * The reason of a failure without the numbers and the ids in it, so that failures of one kind have the same: `Order … not found`.
 *
 * @param status that of the answer, by which failures are told apart that give no reason
 */
export function failureText(failed: Failed, status: number): string {
  // Longer beginnings are not looked at: an answer may be one line of many kilobytes.
  const line = firstLineOf(failed).slice(0, 2 * longestReason);
  if (line === '') return status === 0 ? 'no answer' : `answered ${status}`;
  return differing
    .reduce((text, part) => text.replaceAll(part, '…'), line)
    .slice(0, longestReason)
    .trim();
}
