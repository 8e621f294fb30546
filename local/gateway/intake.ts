/**
 * Takes in the bodies of requests, within bounds of memory and time. API Gateway holds bodies for the functions on AWS; here they
 * are in the one process that does everything.
 *
 * A body of up to 64 KB is read at once. A larger one is read only for a token that is good, or where the route asks for none, and
 * counts against the budget of its account, or of all strangers together. So neither can fill the memory.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ErrorCode, ErrorStatus } from '../../lambdas/error/errorCodes.ts';
import type { Header } from '../../lambdas/shared/headers.ts';
import { findRoute } from '../../lambdas/http/routes.ts';
import { answerJson } from '../http.ts';
import { queryParameters, splitUrl } from '../incoming.ts';

/** Finds the account of a request by its head; undefined where its token is not good. */
export type AccountOf = (headers: readonly Header[], query: readonly Header[]) => Promise<string | undefined>;

const kilobyte = 1_024;
const megabyte = 1_024 * kilobyte;

export interface IntakeBounds {
  /** Bytes of the largest body. */
  readonly largest: number;
  /** Bytes of a body that is read without asking who sends it. */
  readonly small?: number;
  /** Bytes of larger bodies that the process holds at once; of them those of one account, and those of all strangers. */
  readonly total?: number;
  readonly perAccount?: number;
  readonly perStrangers?: number;
  /** A body that brings less than this in each period is given up. */
  readonly leastBytes?: number;
  readonly periodMs?: number;
}

/**
 * The outcome of reading a body: the body; or why it was not read.
 *
 * - `tooLarge`: it has more bytes than the largest may have.
 * - `unknownSender`: it is large, and its token is not good. The function that gets the request without it says so.
 * - `busy`: the budget is used up by bodies of others, or of the same account.
 * - `tooSlow`: it came too slowly.
 */
export type Taken = Buffer | 'tooLarge' | 'unknownSender' | 'busy' | 'tooSlow';

/** The answers to bodies that were not taken, in which the functions have no part. */
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

/** Answers a request whose body was not taken. */
export function refuseUntaken(response: ServerResponse, taken: keyof typeof notTaken): void {
  const { status, headers, ...body } = notTaken[taken];
  answerJson(response, status, 'application/json', body, headers);
}

/** The budget of those who send no token that is good; no account has this id. */
const strangers = '';

export class Intake {
  readonly #bounds: Required<IntakeBounds>;
  readonly #accountOf: AccountOf;
  readonly #held = new Map<string, number>();
  #total = 0;

  /** @param accountOf all bodies belong to one account without it */
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
   * Reads the body of a request, and hands it over. Its bytes count against the budget until `use` has ended.
   *
   * @throws when the connection closes within the body, or the account cannot be read
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

  /** Finds whose budget a body counts against; undefined where it is not read. */
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

  /** Reads a body. A body that is not kept is not read: its remaining bytes are dropped. */
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
      // Iterating over the stream would take more CPU.
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
  /** @returns false where there is no room for so many bytes */
  readonly take: (bytes: number) => boolean;
  readonly release: () => void;
}

/** Whether a request has a body though it does not say how long it is (RFC 9112, 6.3). */
const hasBody = ({ headers }: IncomingMessage): boolean => headers['transfer-encoding'] !== undefined;
