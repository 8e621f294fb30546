/** A failure: an error thrown by a function, an answer, or the reason why there was no answer. */

interface Failed {
  readonly error?: string | undefined;
  readonly responseBody?: string | undefined;
}

interface Thrown {
  /** The name and the message. */
  readonly sentence: string;
  readonly stack: string | undefined;
}

/** The first line of the reason; empty if the answer had no body. */
export function firstLineOf({ error, responseBody = '' }: Failed): string {
  const text = thrownIn(responseBody)?.sentence ?? error ?? responseBody;
  return text.trim().split(/\r?\n/, 1)[0] ?? '';
}

/** Finds the thrown error in an endpoint's answer, if any. */
export function thrownIn(body: string): Thrown | undefined {
  const message = fieldOf(body, 'message');
  if (message === undefined) return undefined;
  const sentence = [fieldOf(body, 'error'), message].filter(Boolean).join(': ');
  return { sentence, stack: fieldOf(body, 'stack') };
}

/**
 * Reads a text from an endpoint's error in JSON. Both workflow clients send `error`, `message` and `stack`.
 * The JSON may be incomplete, because answers are truncated.
 */
function fieldOf(body: string, name: 'error' | 'message' | 'stack'): string | undefined {
  // A stack is useful even without its end.
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

/** The first characters of a reason, by which failures are distinguished. */
const longestReason = 200;

/**
 * The parts of a reason that vary: first ids, then numbers. A word of eight characters with a digit counts as
 * an id.
 */
const differing: readonly RegExp[] = [
  /\b[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}\b/gi,
  /\b(?=\w*\d)\w{8,}\b/g,
  /\d+(?:[.,:]\d+)*/g,
];

/**
 * A failure's reason without numbers and ids, so that similar failures have the same text: `Order … not
 * found`.
 *
 * @param status of the answer, used if there is no reason
 */
export function failureText(failed: Failed, status: number): string {
  // Shortened first, because an answer may be one line of many kilobytes.
  const line = firstLineOf(failed).slice(0, 2 * longestReason);
  if (line === '') return status === 0 ? 'no answer' : `answered ${status}`;
  return differing
    .reduce((text, part) => text.replaceAll(part, '…'), line)
    .slice(0, longestReason)
    .trim();
}
