/** The only error that a client is told of: a status of the API, and a sentence that says what to change. */
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

/** For a malformed request; the sentence names the field, what is wrong with its value, and what is allowed. */
export const badRequest = (message: string): HttpError => new HttpError(400, message);

/** For what the deployment's rules forbid. */
export const forbidden = (message: string): HttpError => new HttpError(403, message);

export const notFound = (message: string): HttpError => new HttpError(404, message);

/** For what would exceed a limit of the account; the sentence names the limit, its value and what was asked for. */
export const overLimit = (message: string): HttpError => new HttpError(412, message);

/** Characters, so that an error stays a readable sentence. */
const longestQuote = 60;
const cut = (text: string, most: number): string =>
  text.length > most ? `${text.slice(0, most - 3)}...` : text;

/** Quotes a text in an error: shortened, and on one line. */
export const quote = (value: string): string => JSON.stringify(cut(value, longestQuote));

/** Quotes any value of a JSON body. */
export const quoteJson = (value: unknown): string => cut(JSON.stringify(value), longestQuote);
