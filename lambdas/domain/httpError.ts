/** The one error type that reaches a client: a status of the API and a sentence that says what to change. */
export class HttpError extends Error {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, message: string, headers: Readonly<Record<string, string>> = {}) {
    super(message);
    this.name = 'HttpError';
    this.status = status;
    this.headers = headers;
  }
}

/** The request is malformed; the sentence names the field, the value's problem and what is allowed. */
export const badRequest = (message: string): HttpError => new HttpError(400, message);

/** A deployment's or destination's rule forbids it. */
export const forbidden = (message: string): HttpError => new HttpError(403, message);

export const notFound = (message: string): HttpError => new HttpError(404, message);

/** A limit of the account would be exceeded; the sentence names the limit, its value and what was asked. */
export const overLimit = (message: string): HttpError => new HttpError(412, message);

const longestQuote = 60;
const cut = (text: string, most: number): string =>
  text.length > most ? `${text.slice(0, most - 3)}...` : text;

/** A text as it may be quoted in an error: short, and on one line. */
export const quote = (value: string): string => JSON.stringify(cut(value, longestQuote));

/** The same of any value of a JSON body. */
export const quoteJson = (value: unknown): string => cut(JSON.stringify(value), longestQuote);
