import * as z from 'zod/mini';
import { text, whole, type Readable } from '../options/option.ts';
import { heldKinds } from './states.ts';

export const hold = z.object({
  kind: z.enum(heldKinds).check(z.describe('The kind of thing whose deliveries are held.')),
  name: z.optional(text('The host, the label or the name of the URL group.')),
  by: text('The token that held it, or last changed the hold: `token`, or the id of a named token.'),
  since: whole('When the hold began. Unix milliseconds.'),
  reason: z.optional(z.string()),
  until: z.optional(whole('When the hold ends by itself. Unix milliseconds.')),
  waiting: whole(
    'Deliveries that wait for its end. A delivery of a cancelled message counts until its turn comes.',
  ),
});
export type HoldAnswer = Readable<z.infer<typeof hold>>;

export const holds = z.array(hold);
