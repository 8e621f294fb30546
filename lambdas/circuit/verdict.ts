/** The verdict of an attempt about its destination's host, and the name of that host. */
import { hostOf } from '../destination/place.ts';
import type { DestinationResponse } from '../destination/response.ts';
import { retryAfterOf } from '../destination/retryAfter.ts';

/** Characters of the longest ARN, that of an EventBridge bus. A DNS name with a port has 259. */
export const longestHost = 320;

/** Names the host of a destination's circuit, as `hostOf` does; undefined for one that is too long to be reached. */
export function circuitHostOf(destination: string): string | undefined {
  const host = hostOf(destination);
  return host.length <= longestHost ? host : undefined;
}

/**
 * The verdict of an attempt about its host.
 *
 * - `up`: it answers. A 4XX is about the request, not about the host.
 * - `down`: no answer, or a 5XX.
 * - `busy`: a 429. The host is not down, but a probe that gets it is no reason to release all waiting attempts.
 * - `nothing`: no request was made.
 */
export type Verdict =
  | { readonly says: 'up' | 'nothing' }
  | {
      readonly says: 'down' | 'busy';
      readonly status: number;
      readonly error: string | undefined;
      /** Unix milliseconds before which the host does not want to be called again; undefined where it does not say. */
      readonly notBefore: number | undefined;
    };

/** @param now Unix milliseconds */
export function verdictOf(response: DestinationResponse, now: number): Verdict {
  const { status, error, isRefusal } = response;
  if (isRefusal === true) return { says: 'nothing' };
  const isDown = status === 0 || status >= 500;
  if (!isDown && status !== 429) return { says: 'up' };
  return { says: isDown ? 'down' : 'busy', status, error, notBefore: retryAfterOf(response, now) };
}
