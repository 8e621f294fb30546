import { type Header, headerName } from '../../shared/headers.ts';
import type { Redaction } from '../../options/redaction.ts';
import { forwardedByRun } from '../rules/forwarding.ts';
import type { RunStart } from '../rules/journal.ts';
import { bothRedactions, type ShownTexts } from './rules/shownTexts.ts';
import { settings } from '../../aws/settings.ts';

/** Not redacted, because the log shows the names of steps anyway. */
export const stepNameHeader = ({ prefix }: Pick<RunStart, 'prefix'>): string =>
  headerName(prefix, 'error-step-name').toLowerCase();

export class RunView {
  readonly #texts: ShownTexts;
  readonly #redaction: Redaction | undefined;

  constructor(texts: ShownTexts, redaction: Redaction | undefined) {
    this.#texts = texts;
    this.#redaction = redaction;
  }

  /** If false, no texts need to be loaded. */
  get hasTexts(): boolean {
    return this.#texts.areShown;
  }

  text(body: Uint8Array | string): string | undefined {
    return this.#texts.text(body, this.#redaction);
  }

  headers(headers: readonly Header[]): readonly Header[] {
    return this.#texts.headers(headers, this.#redaction);
  }

  /** Shows the content type, and the headers that the endpoint receives. */
  forwarded(headers: readonly Header[]): readonly Header[] {
    const known = new Set(forwardedByRun(headers, settings.headerPrefixes));
    return this.headers(headers.filter((header) => header[0] === 'content-type' || known.has(header)));
  }

  /** Adds the redaction of another run or message. */
  with(other: Redaction | undefined): RunView {
    return other === undefined ? this : new RunView(this.#texts, bothRedactions(this.#redaction, other));
  }
}
