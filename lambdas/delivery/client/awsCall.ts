/** Common code of attempts that are calls of AWS. */
import { noAnswer, type DestinationResponse } from '../../destination/response.ts';
import { now, secondMs } from '../../shared/clock.ts';
import { recentlyUsed } from '../../shared/recentlyUsed.ts';

export interface SdkError {
  readonly name: string;
  readonly message: string;
  readonly retryAfterSeconds?: unknown;
  readonly Reason?: unknown;
  readonly $metadata?: { readonly httpStatusCode?: number };
}

export function inEachRegion<T>(open: (region: string) => T): (region: string) => T {
  const clients = new Map<string, T>();
  return (region) => recentlyUsed(clients, region, () => open(region));
}

const resets: ReadonlySet<string> = new Set(['ECONNRESET', 'EPIPE']);

/**
 * Makes a call. If AWS closes a kept connection just when it is reused, the call is repeated. If a connection
 * is lost later, the call may be in progress, and is not repeated.
 */
async function callOnce<T>(call: () => Promise<T>): Promise<T> {
  const startedAt = now();
  try {
    return await call();
  } catch (error) {
    const isReset = error instanceof Error && 'code' in error && resets.has(String(error.code));
    if (!isReset || now() - startedAt > secondMs) throw error;
    return call();
  }
}

/**
 * Makes the call of an attempt. It never rejects.
 *
 * @param what the subject of the sentence about a timeout
 * @param timeoutMs the time for everything
 */
export async function callWithin(
  what: string,
  timeoutMs: number,
  call: (deadline: AbortSignal) => Promise<DestinationResponse>,
  refused: (error: SdkError) => DestinationResponse,
): Promise<DestinationResponse> {
  const deadline = new AbortController();
  const timer = setTimeout(() => {
    deadline.abort();
  }, timeoutMs);
  try {
    return await callOnce(() => call(deadline.signal));
  } catch (error) {
    if (deadline.signal.aborted) return noAnswer(`${what} did not answer within ${timeoutMs / secondMs} s.`);
    return refused(error instanceof Error ? error : new Error(String(error)));
  } finally {
    clearTimeout(timer);
  }
}
