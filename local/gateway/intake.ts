/**
 * Reads the bodies of requests within limits of memory and time, because a single process holds all of them.
 *
 * A body of up to 64 KB is always read. A larger one is read only if its token is valid or the route needs
 * none. It uses the budget of its account, or that of all unknown senders.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ErrorCode, ErrorStatus } from '../../lambdas/error/errorCodes.ts';
import type { Header } from '../../lambdas/shared/headers.ts';
import { findRoute } from '../../lambdas/http/routes.ts';
import { answerJson } from '../http.ts';
import { queryParameters, splitUrl } from '../incoming.ts';

/** Finds the account of a request by its head; undefined if the token is invalid. */
export type AccountOf = (headers: readonly Header[], query: readonly Header[]) => Promise<string | undefined>;

const kilobyte = 1_024;
const megabyte = 1_024 * kilobyte;

export interface IntakeBounds {
  readonly largest: number;
  /** The largest body that is read before its sender is known, in bytes. */
  readonly small?: number;
  /** The most bytes of larger bodies in memory: in total, for one account, and for all unknown senders. */
  readonly total?: number;
  readonly perAccount?: number;
  readonly perStrangers?: number;
  /** If fewer bytes arrive in a period, the body is given up. */
  readonly leastBytes?: number;
  readonly periodMs?: number;
}

/**
 * A body, or why it was not read.
 *
 * - `tooLarge`: it exceeds the largest size.
 * - `unknownSender`: it is large, and its token is invalid. The function gets the request without a body, and
 * refuses it.
 * - `busy`: other bodies use the whole budget.
 * - `tooSlow`: it arrived too slowly.
 */
export type Taken = Buffer | 'tooLarge' | 'unknownSender' | 'busy' | 'tooSlow';

/** Answers for bodies that were not read. No function is called. */
const notTaken = {
  tooSlow: {
    status: 408,
    headers: { connection: 'close' },
    error: 'The body came too slowly; send it again over a better connection.',
    code: 'body_too_slow',
  },
  busy: {
    status: 503,
    headers: { 'retry-after': '1' },
    error:
      'Too many large bodies are being read at this moment; nothing was accepted, send the request again a moment later.',
    code: 'busy',
  },
} as const satisfies Record<string, { status: ErrorStatus; headers: object; error: string; code: ErrorCode }>;

export function refuseUntaken(response: ServerResponse, taken: keyof typeof notTaken): void {
  const { status, headers, ...body } = notTaken[taken];
  answerJson(response, status, 'application/json', body, headers);
}

/** The name of the budget of unknown senders. No account has this id. */
const strangers = '';

export class Intake {
  readonly #bounds: Required<IntakeBounds>;
  readonly #accountOf: AccountOf;
  readonly #held = new Map<string, number>();
  #total = 0;

  constructor(bounds: IntakeBounds, accountOf: AccountOf = () => Promise.resolve('all')) {
    this.#bounds = {
      small: 64 * kilobyte,
      total: 128 * megabyte,
      perAccount: 64 * megabyte,
      perStrangers: 32 * megabyte,
      leastBytes: 32 * kilobyte,
      periodMs: 5_000,
      ...bounds,
    };
    this.#accountOf = accountOf;
  }

  /**
   * Reads a request's body. It uses the budget until `use` has ended.
   *
   * @throws if the connection closes too early, or the account cannot be read
   */
  async take<T>(request: IncomingMessage, use: (taken: Taken) => Promise<T>): Promise<T> {
    const { largest, small } = this.#bounds;
    const length = Number(request.headers['content-length'] ?? (hasBody(request) ? Infinity : 0));
    if (length > largest && length !== Infinity) return use('tooLarge');
    let owner: string | undefined;
    if (length > small) {
      owner = await this.#ownerOf(request);
      if (owner === undefined) return use('unknownSender');
    }
    const budget = owner === undefined ? undefined : this.#budgetOf(owner);
    try {
      return await use(await this.#read(request, budget));
    } finally {
      budget?.release();
    }
  }

  /** Finds the account whose budget a body uses; undefined if the body is refused. */
  async #ownerOf(request: IncomingMessage): Promise<string | undefined> {
    const { path, query } = splitUrl(request.url ?? '/');
    const { route } = findRoute(request.method ?? 'GET', path);
    const isOpen = route?.access === 'open' || route === undefined;
    if (isOpen) return strangers;
    const headers = request.rawHeaders.flatMap((name, at, all): Header[] =>
      at % 2 === 0 ? [[name.toLowerCase(), all[at + 1] ?? '']] : [],
    );
    const parameters = [...queryParameters(query)].flatMap(([name, values]) =>
      values.map((value): Header => [name, value]),
    );
    return this.#accountOf(headers, parameters);
  }

  #budgetOf(owner: string): Budget {
    const { total, perAccount, perStrangers } = this.#bounds;
    const most = owner === strangers ? perStrangers : perAccount;
    let taken = 0;
    return {
      take: (bytes) => {
        const held = this.#held.get(owner) ?? 0;
        if (held + bytes > most || this.#total + bytes > total) return false;
        this.#held.set(owner, held + bytes);
        this.#total += bytes;
        taken += bytes;
        return true;
      },
      release: () => {
        const left = (this.#held.get(owner) ?? 0) - taken;
        if (left > 0) this.#held.set(owner, left);
        else this.#held.delete(owner);
        this.#total -= taken;
        taken = 0;
      },
    };
  }

  /** Reads a body. After a refusal, the remaining bytes are dropped. */
  #read(request: IncomingMessage, budget: Budget | undefined): Promise<Taken> {
    const { largest, leastBytes, periodMs } = this.#bounds;
    const chunks: Buffer[] = [];
    let size = 0;
    let sizeBefore = 0;
    return new Promise((resolve, reject) => {
      const end = (taken: Taken): void => {
        clearInterval(pace);
        request.off('data', onData).resume();
        resolve(taken);
      };
      const pace = setInterval(() => {
        if (size - sizeBefore < leastBytes) end('tooSlow');
        sizeBefore = size;
      }, periodMs);
      // Takes less CPU than iterating over the stream.
      const onData = (chunk: Buffer): void => {
        size += chunk.length;
        if (size > largest) end('tooLarge');
        else if (budget?.take(chunk.length) === false) end('busy');
        else chunks.push(chunk);
      };
      request.on('data', onData);
      request.once('end', () => {
        end(Buffer.concat(chunks));
      });
      request.once('error', (error) => {
        clearInterval(pace);
        reject(error);
      });
      request.once('close', () => {
        clearInterval(pace);
        if (!request.complete) reject(new Error('The connection was closed within the request.'));
      });
    });
  }
}

interface Budget {
  /** @returns false if the budget does not suffice */
  readonly take: (bytes: number) => boolean;
  readonly release: () => void;
}

/** Whether a request without `Content-Length` has a body (RFC 9112, 6.3). */
const hasBody = ({ headers }: IncomingMessage): boolean => headers['transfer-encoding'] !== undefined;
