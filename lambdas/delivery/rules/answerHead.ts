/**
 * Converts the head of an HTTP/1.1 answer so that Node's parser accepts it.
 *
 * curl and Go's client accept heads that Node refuses. This file corrects them: lines that end with LF alone,
 * folded lines, a space before a colon, a repeated length, a length in addition to chunks, and lines that are
 * not headers.
 */

/**
 * Where a body ends: after a number of bytes (0 if there is no body), after the last chunk, or when the
 * connection closes.
 */
type Framing = { readonly bytes: number } | 'chunked' | 'untilClose';

interface AnswerHead {
  readonly status: number;
  /** The head for Node's parser, as Latin-1, with the empty line. Unchanged if it was regular. */
  readonly text: string;
  readonly framing: Framing;
  /** If false, the connection must not be reused. */
  readonly isRegular: boolean;
  /** How long the server keeps an idle connection, if it says so: milliseconds. */
  readonly keepAliveMs: number | undefined;
}

interface Line {
  readonly name: string;
  readonly value: string;
}

const statusLine = /^HTTP\/\d\.\d +(\d{3})(?: |$)/;

/** A header with allowed characters (RFC 9110, 5.1). */
const headerLine = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+)[ \t]*:[ \t]*(.*?)[ \t]*$/s;

// oxlint-disable-next-line no-control-regex
const controls = /[\0-\x08\x0a-\x1f\x7f]/g;

/** A line that begins with a space continues the one before it (RFC 9112, 5.2). */
function linesOf(texts: readonly string[]): readonly Line[] {
  const unfolded: string[] = [];
  for (const text of texts) {
    if (!/^[ \t]/.test(text)) unfolded.push(text);
    else if (unfolded.length > 0) unfolded.push(`${unfolded.pop() ?? ''} ${text.trim()}`);
  }
  return unfolded.flatMap((text) => {
    const [, name, value = ''] = headerLine.exec(text) ?? [];
    return name === undefined ? [] : { name, value: value.replaceAll(controls, ' ') };
  });
}

const isNamed =
  (name: string) =>
  (line: Line): boolean =>
    line.name.toLowerCase() === name;
const isLength = isNamed('content-length');
const isCoding = isNamed('transfer-encoding');

const valuesIn = (lines: readonly Line[], picks: (line: Line) => boolean): readonly string[] =>
  lines.filter(picks).flatMap(({ value }) => value.split(',').map((part) => part.trim()));

/** Keeps only the first of the selected headers, with another value. Without a value, removes all of them. */
function withOne(lines: readonly Line[], picks: (line: Line) => boolean, value?: string): readonly Line[] {
  const first = lines.findIndex(picks);
  return lines.flatMap((line, index) => {
    if (!picks(line)) return line;
    return index === first && value !== undefined ? { ...line, value } : [];
  });
}

/** Finds where the body ends (RFC 9112, 6.3), and keeps only the headers that say so. */
function framed(status: number, lines: readonly Line[]): { framing: Framing; lines: readonly Line[] } {
  const lengths = new Set(valuesIn(lines, isLength));
  const [length = ''] = lengths;
  const isClear = lengths.size === 1 && /^\d{1,15}$/.test(length);
  const codings = valuesIn(lines, isCoding).filter((coding) => coding.toLowerCase() !== 'identity');
  if (status < 200 || status === 204 || status === 304) {
    // A 304 may have the length of the body that it omits. For other answers without a body the length is
    // removed, because some of Node's parsers wait for the body of a 204.
    const isStated = isClear && (status === 304 || Number(length) === 0);
    const stated = withOne(lines, isLength, isStated ? length : undefined);
    return { framing: { bytes: 0 }, lines: withOne(stated, isCoding) };
  }
  if (codings.length > 0) {
    const isChunked = codings.at(-1)?.toLowerCase() === 'chunked';
    const others = codings.filter((coding) => coding.toLowerCase() !== 'chunked');
    const coding = [...others, ...(isChunked ? ['chunked'] : [])].join(', ');
    return {
      framing: isChunked ? 'chunked' : 'untilClose',
      lines: withOne(withOne(lines, isLength), isCoding, coding),
    };
  }
  const plain = withOne(lines, isCoding);
  if (isClear) return { framing: { bytes: Number(length) }, lines: withOne(plain, isLength, length) };
  // The lengths contradict each other, and Node's parser would refuse them. So the body ends with the
  // connection.
  if (lengths.size > 0) return { framing: 'untilClose', lines: plain };
  // A 205 has no body, even if it has no length (RFC 9110, 15.3.6).
  if (status !== 205) return { framing: 'untilClose', lines: plain };
  return { framing: { bytes: 0 }, lines: [...plain, { name: 'Content-Length', value: '0' }] };
}

function keepAliveMsOf(lines: readonly Line[]): number | undefined {
  const seconds = valuesIn(lines, isNamed('keep-alive')).flatMap(
    (value) => /^timeout *= *(\d{1,9})$/i.exec(value)?.[1] ?? [],
  );
  return seconds.length === 0 ? undefined : Number(seconds[0]) * 1_000;
}

const textOf = (first: string, lines: readonly Line[]): string =>
  `${[first, ...lines.map(({ name, value }) => `${name}: ${value}`)].join('\r\n')}\r\n\r\n`;

/** Whether Node's parser accepts a head unchanged. */
const isRegularText = (text: string): boolean =>
  // oxlint-disable-next-line no-control-regex
  /^[^\r\n]*\r\n(?:[!#$%&'*+.^_`|~0-9A-Za-z-]+:[^\0-\x08\x0a-\x1f\x7f]*\r\n)*\r\n$/.test(text);

/**
 * @param received the bytes as Latin-1, with the empty line
 * @returns undefined if it does not begin like an HTTP answer
 */
export function readAnswerHead(received: string): AnswerHead | undefined {
  const [first = '', ...rest] = received.split(/\r?\n/);
  const status = Number(statusLine.exec(first)?.[1]);
  if (Number.isNaN(status)) return undefined;
  const given = linesOf(rest);
  const { framing, lines } = framed(status, given);
  const isRegular =
    isRegularText(received) &&
    lines.length === given.length &&
    lines.every(({ value }, index) => value.toLowerCase() === given[index]?.value.toLowerCase());
  const text = isRegular ? received : textOf(first.replace(/ +/, ' ').replaceAll(controls, ' '), lines);
  return {
    status,
    text,
    framing,
    isRegular,
    keepAliveMs: keepAliveMsOf(lines),
  };
}
