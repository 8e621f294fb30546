/** The JSON body of a batch. The other bodies are in `requests.ts`: publish needs none of them, and loads this one at its start. */
import * as z from 'zod/mini';
import { nameForm } from '../shared/bounds.ts';
import { headersIn, optionalField } from '../shared/json.ts';

export const longestBatch = 1_000;

// The patterns are for the description: the parsers check the values, and refuse in their own words.

/** The destination of a message or a schedule. */
export const destination = z.string().check(
  z.meta({
    description: 'A URL, or the name of a URL group.',
    pattern: '^([hH][tT][tT][pP][sS]?:.+|[A-Za-z0-9._-]+)$',
  }),
);

/** One message of a batch. */
export const batchItem = z.strictObject({
  destination,
  body: optionalField(z.string()),
  headers: optionalField(
    headersIn('What a publish takes as headers: `Svc-Retries`, `Content-Type` and so on.'),
  ),
  queue: optionalField(
    z.string().check(z.meta({ description: 'The name of a queue, as for an enqueue.', pattern: nameForm })),
  ),
});
