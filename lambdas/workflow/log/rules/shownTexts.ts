import { beginningOf } from '../../../shared/bytes.ts';
import type { Header } from '../../../shared/headers.ts';
import { noRedaction, redacted, redactHeaders } from '../../../message/redaction.ts';
import type { Redaction } from '../../../options/redaction.ts';

export const beginningOfText = (text: string, mostBytes: number): string =>
  text.length * 3 <= mostBytes
    ? text
    : Buffer.from(beginningOf(Buffer.from(text), mostBytes)).toString('utf8');

export function bothRedactions(one = noRedaction, other = noRedaction): Redaction {
  const isAll = one.headers === 'all' || other.headers === 'all';
  return {
    body: one.body || other.body,
    headers: isAll ? 'all' : [...new Set([...one.headers, ...other.headers])],
  };
}

export const longestCutText = 4_096;
/** If the texts exceed the limit by this factor, they are left out. */
const hopeless = 8;

/** Shows the texts of a log. When they are too long for an answer, it keeps only their beginnings, to save memory. */
export class ShownTexts {
  readonly #trimBody: number;
  readonly #answerBytes: number;
  readonly #keptHeader: string;
  #used = 0;

  /**
   * @param trimBody bytes shown of each text; −1 shows no texts
   * @param answerBytes the size of the largest answer
   * @param keptHeader the name of a header that is never hidden
   */
  constructor(trimBody: number, answerBytes: number, keptHeader: string) {
    this.#trimBody = trimBody;
    this.#answerBytes = answerBytes;
    this.#keptHeader = keptHeader;
  }

  /** If false, no texts need to be loaded. */
  get areShown(): boolean {
    return this.#trimBody >= 0;
  }

  text(body: Uint8Array | string, redaction = noRedaction): string | undefined {
    if (!this.areShown) return undefined;
    const bytes = typeof body === 'string' ? Buffer.from(body) : body;
    if (redaction.body && bytes.length > 0) return redacted(bytes);
    const most = this.#used > this.#answerBytes ? longestCutText : Infinity;
    const shown = beginningOf(bytes, this.#isHopeless ? 0 : Math.min(this.#trimBody, most));
    this.#used += shown.length;
    return Buffer.from(shown.buffer, shown.byteOffset, shown.length).toString('utf8');
  }

  headers(headers: readonly Header[], redaction = noRedaction): readonly Header[] {
    const shown = redactHeaders(headers, redaction).map(([name, value], index): Header => {
      const own = headers[index];
      return name === this.#keptHeader && own !== undefined ? own : [name, value];
    });
    if (this.#isHopeless) return shown.filter(([name]) => name === this.#keptHeader);
    for (const [name, value] of shown) this.#used += name.length + value.length;
    return shown;
  }

  get #isHopeless(): boolean {
    return this.#used > hopeless * this.#answerBytes;
  }
}
