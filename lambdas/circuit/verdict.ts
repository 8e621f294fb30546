import { hostOf } from '../destination/place.ts';
import type { DestinationResponse } from '../destination/response.ts';
import { retryAfterOf } from '../destination/retryAfter.ts';

/**
 * The length of the longest ARN, of an EventBridge bus. A DNS name with a port has at most 259 characters.
 */
export const longestHost = 320;

/** The host of a destination, as in `hostOf`; undefined if it is too long to exist. */
export function circuitHostOf(destination: string): string | undefined {
  const host = hostOf(destination);
  return host.length <= longestHost ? host : undefined;
}

/**
 * The verdict of an attempt about its host.
 *
 * - `up`: the host answers. A 4XX is about the request, not about the host.
 * - `down`: no answer, or a 5XX.
 * - `busy`: a 429. The host is up, but a probe with this answer does not release all waiting attempts.
 * - `nothing`: no request was made.
 */
export type Verdict =
  | { readonly says: 'up' | 'nothing' }
  | {
      readonly says: 'down' | 'busy';
      readonly status: number;
      readonly error: string | undefined;
      /** When the host allows the next call, if it says so. */
      readonly notBefore: number | undefined;
    };

export function verdictOf(response: DestinationResponse, now: number): Verdict {
  const { status, error, isRefusal } = response;
  if (isRefusal === true) return { says: 'nothing' };
  const isDown = status === 0 || status >= 500;
  if (!isDown && status !== 429) return { says: 'up' };
  return { says: isDown ? 'down' : 'busy', status, error, notBefore: retryAfterOf(response, now) };
}
