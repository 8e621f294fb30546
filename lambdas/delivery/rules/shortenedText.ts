/**
 * Shortens a text that will be parsed. JSON remains valid, characters remain whole, and a mark shows each
 * cut.
 */
import { beginningOf } from '../../shared/bytes.ts';

/** JSON with more levels is cut as plain text, because `JSON.stringify` is recursive. */
const deepest = 100;

/** Texts in JSON are cut only if they are longer than this (bytes): otherwise the mark would not fit. */
const shortestCut = 128;

const markOf = (bytes: number, isBeginning: boolean): string =>
  ` … (cut: the whole has ${isBeginning ? 'more than ' : ''}${bytes} bytes)`;

const endMissing = ' … (cut: the end is missing)';

function cutTo(bytes: Buffer, mostBytes: number, isBeginning: boolean): string {
  const mark = markOf(bytes.length, isBeginning);
  const left = Math.max(0, mostBytes - Buffer.byteLength(mark));
  return `${Buffer.from(beginningOf(bytes, left)).toString('utf8')}${mark}`;
}

/** The arrays and objects that contain a place in JSON, the innermost first. */
type Around = { readonly closer: '}' | ']'; readonly outer: Around } | undefined;

interface Outline {
  /** The arrays and objects that are open at the end of the text. */
  readonly around: Around;
  readonly endsInString: boolean;
  /**
   * The end of the last complete part (before the last comma, or after the last opening bracket), and what is
   * open there.
   */
  readonly complete: { readonly end: number; readonly around: Around };
  readonly depth: number;
}

/** Finds the strings, arrays and objects of a text. Does not check that it is JSON. */
function outlineOf(text: string): Outline {
  let around: Around;
  let depth = 0;
  let mostDepth = 0;
  let endsInString = false;
  let complete: Outline['complete'] = { end: 0, around: undefined };
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at];
    if (endsInString) {
      if (character === '\\') at += 1;
      else if (character === '"') endsInString = false;
      continue;
    }
    switch (character) {
      case '"':
        endsInString = true;
        break;
      case '{':
      case '[':
        around = { closer: character === '{' ? '}' : ']', outer: around };
        depth += 1;
        mostDepth = Math.max(mostDepth, depth);
        complete = { end: at + 1, around };
        break;
      case '}':
      case ']':
        around = around?.outer;
        depth -= 1;
        break;
      case ',':
        complete = { end: at, around };
        break;
      default:
    }
  }
  return { around, endsInString, complete, depth: mostDepth };
}

function closersOf(around: Around): string {
  let closers = '';
  for (let open = around; open !== undefined; open = open.outer) closers += open.closer;
  return closers;
}

function parsed(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) as unknown };
  } catch {
    return undefined;
  }
}

/** An incomplete name, number, or word such as `true`. */
const partOfField = /^,?\s*(?:"|[-+.\w]{0,30}$)/;

/** Parses the beginning of JSON: closes a string at the end, or omits an incomplete field. */
function parsedBeginning(text: string, outline: Outline): { readonly value: unknown } | undefined {
  const { around, endsInString, complete } = outline;
  if (around === undefined) return undefined;
  // The text may end within an escape such as `\u00e9`.
  const last = endsInString
    ? `${text.replace(/(?<!\\)((?:\\\\)*)\\(?:u[0-9a-fA-F]{0,3})?$/, '$1')}${endMissing}"`
    : text;
  const closed = parsed(`${last}${closersOf(around)}`);
  if (closed !== undefined || !partOfField.test(text.slice(complete.end))) return closed;
  return parsed(`${text.slice(0, complete.end)}${closersOf(complete.around)}`);
}

/** Writes JSON with its long texts cut to the same length. */
function withShortTexts(value: unknown, mostBytes: number): Buffer | undefined {
  for (let most = mostBytes; most >= shortestCut; most = Math.floor((most * 3) / 4)) {
    const json = JSON.stringify(value, (_name, one: unknown) => {
      if (typeof one !== 'string' || one.length * 3 <= most) return one;
      const bytes = Buffer.from(one);
      return bytes.length <= most ? one : cutTo(bytes, most, one.endsWith(endMissing));
    });
    if (Buffer.byteLength(json) <= mostBytes) return Buffer.from(json);
  }
  return undefined;
}

/**
 * Shortens a body. A JSON object or array can still be parsed, even if its end is missing: only its long
 * texts are cut. Other bodies are cut to their beginning. A cut text ends with the length of the whole.
 *
 * @param mostBytes at least 256
 * @param isBeginning whether the body is known to be the beginning of a longer one
 * @returns the body itself if it is short and seems complete
 */
export function shortened(body: Uint8Array, mostBytes: number, isBeginning = false): Uint8Array {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.length);
  // Leaves out a character that is incomplete.
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes, { stream: true });
  if (/^\s*[{[]/.test(text)) {
    const outline = outlineOf(text);
    const whole = outline.depth > deepest ? undefined : parsed(text);
    if (whole !== undefined && body.length <= mostBytes) return body;
    const json = outline.depth > deepest ? undefined : (whole ?? parsedBeginning(text, outline));
    const short = json && withShortTexts(json.value, mostBytes);
    if (short !== undefined) return short;
  }
  return body.length <= mostBytes && !isBeginning ? body : Buffer.from(cutTo(bytes, mostBytes, isBeginning));
}
