import * as z from 'zod/mini';
import { headerLists, text, whole } from '../options/option.ts';
import { messageId, time, type Answer } from './answers.ts';

export const pulled = z.object({
  messages: z.array(
    z.object({
      messageId,
      retried: whole('The retries before this attempt: 0 for attempt 1.'),
      method: text('The method of the request that would have been sent.'),
      headers: headerLists('Its headers, with signatures.'),
      body: z.optional(text('Its body if it is UTF-8 text.')),
      bodyBase64: z.optional(text('Its body in base64 if it is not.')),
      completion: text('Names this attempt in `POST /v2/complete/{completion}` and `…/extend/{completion}`.'),
      completionDeadline: time('When the attempt fails without a completion.'),
    }),
  ),
});

export const extended = z.object({ messageId, completionDeadline: time('The new end.') });

export type Pulled = Answer<typeof pulled>;
export type Extended = Answer<typeof extended>;
