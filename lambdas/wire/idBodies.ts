import * as z from 'zod/mini';
import type { Header } from '../shared/headers.ts';
import { listOf, parseShape } from '../shared/json.ts';
import { idFilters, type List } from './filters.ts';

const ids = listOf(z.string().check(z.minLength(1)), 1);

/** Bounds for the ids that fit into 4 MB. */
const idBounds = { values: 150_000, depth: 3 };

export const idBodies = {
  messages: z.strictObject({ [idFilters.messages]: ids }),
  dlq: z.strictObject({ [idFilters.dlq]: ids }),
} as const satisfies Partial<Record<List, z.ZodMiniType<Readonly<Record<string, readonly string[]>>>>>;

/**
 * Reads the ids in a bulk operation's JSON body, such as `{"messageIds": […]}`.
 *
 * @throws HttpError 400
 */
export function idsInBody(list: keyof typeof idBodies, body: Uint8Array): readonly Header[] {
  if (body.length === 0) return [];
  const name = idFilters[list];
  const shape: z.ZodMiniType<Readonly<Record<string, readonly string[]>>> = idBodies[list];
  const given = parseShape('The body', body, shape, `{"${name}": ["<id>", …]}`, idBounds);
  return Object.values(given).flatMap((values) => values.map((id): Header => [name, id]));
}
