import type * as z from 'zod/mini';
import type { NamedToken } from '../../account/namedToken.ts';
import { parsePattern } from '../../destination/onlyTo.ts';
import { badField, quoteJson } from '../../error/httpError.ts';
import { now, secondMs } from '../../shared/clock.ts';
import { parseShape } from '../../shared/json.ts';
import { parseOverlapMs } from '../../value/duration.ts';
import {
  allowedOwnToken,
  allowedToken,
  newOwnTokenInput,
  newTokenInput,
  rotatedTokenInput,
} from '../accountShapes.ts';

type NewToken = z.infer<typeof newTokenInput>;

export type AskedToken = Pick<NamedToken, 'name' | 'scope' | 'destinations' | 'endsAt'>;

/**
 * @param latest when the token that makes the new one expires
 * @throws HttpError 400
 */
export function readToken(body: Uint8Array, by: 'operator' | 'account', latest?: number): AskedToken {
  const [shape, allowed]: [z.ZodMiniType<NewToken>, string] =
    by === 'operator' ? [newTokenInput, allowedToken] : [newOwnTokenInput, allowedOwnToken];
  const { name, scope, destinations, expires_at: expiresAt } = parseShape('The body', body, shape, allowed);
  if (expiresAt !== undefined && expiresAt * secondMs <= now()) {
    throw badField(
      `expires_at is ${expiresAt}, which is in the past; allowed is a time in the future, in Unix seconds, or null.`,
    );
  }
  const endsAt = expiresAt === undefined ? latest : expiresAt * secondMs;
  if (latest !== undefined && endsAt !== undefined && endsAt > latest) {
    throw badField(
      `expires_at is ${expiresAt}; allowed is the end of the token that makes it, ${latest / secondMs}, or an earlier time.`,
    );
  }
  if (destinations !== undefined && scope !== 'publish') {
    throw badField(
      `destinations is given with the scope ${scope}; allowed is a list only with the scope publish.`,
    );
  }
  const patterns = destinations?.map((text, index) => {
    const pattern = parsePattern(text);
    if (pattern !== undefined) return pattern;
    throw badField(
      `destinations.${index} is ${quoteJson(text)}; allowed is the beginning of a URL (at least http:// or https:// and the host, without user, query and fragment), the ARN of a function, queue, topic or bus in AWS, group:<name> for a URL group, or queue:<name>.`,
    );
  });
  return {
    name,
    scope,
    destinations: patterns && [...new Set(patterns)],
    endsAt,
  };
}

export function readOverlap(body: Uint8Array) {
  const given =
    body.length === 0 ? {} : parseShape('The body', body, rotatedTokenInput, '{"overlap"?: "24h"}');
  const { overlap = '24h' } = given;
  return { overlap, overlapMs: parseOverlapMs(overlap) };
}
