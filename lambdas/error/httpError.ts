import type { CodeOf, ErrorCode, ErrorStatus, Reason } from './errorCodes.ts';

type Headers = Readonly<Record<string, string>>;

/**
 * The only error that clients see: a status, a code that the table allows for it, and a sentence that says
 * what to change.
 */
export class HttpError extends Error {
  readonly status: ErrorStatus;
  readonly code: ErrorCode;
  readonly headers: Headers;

  constructor(...[status, code, message, headers = {}]: readonly [...Reason, string, Headers?]) {
    super(message);
    this.name = 'HttpError';
    this.status = status;
    this.code = code;
    this.headers = headers;
  }
}

/** Refuses an invalid header, parameter or field. The sentence names it, the mistake, and the allowed values. */
export const badField = (message: string): HttpError => new HttpError(400, 'field_invalid', message);

/** Refuses a malformed request. The sentence names the mistake, and what is allowed. */
export const badRequest = (code: CodeOf<400>, message: string): HttpError =>
  new HttpError(400, code, message);

/** Refuses a request that the deployment's rules forbid. */
export const forbidden = (code: CodeOf<403>, message: string): HttpError => new HttpError(403, code, message);

export const notFound = (code: CodeOf<404>, message: string): HttpError => new HttpError(404, code, message);

/**
 * Refuses a request that would exceed a limit of the account. The sentence names the limit, its value and the
 * requested value.
 */
export const overLimit = (code: CodeOf<412>, message: string): HttpError => new HttpError(412, code, message);

/** The longest quotation in a sentence. */
const longestQuote = 60;
const cut = (text: string, most: number): string =>
  text.length > most ? `${text.slice(0, most - 3).toWellFormed()}...` : text;

/** Quotes a text in an error, shortened, on one line. */
export const quote = (value: string): string => JSON.stringify(cut(value, longestQuote));

export const quoteJson = (value: unknown): string => cut(JSON.stringify(value), longestQuote);
