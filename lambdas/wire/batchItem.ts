/** Not in `requests.ts`, because publishing loads this file at its start and needs no other request. */
import * as z from 'zod/mini';
import { mostEntries, nameForm } from '../shared/bounds.ts';
import { headersIn, optionalField } from '../shared/json.ts';

export const longestBatch = 1_000;
/** The most items in a batch of a run. The branches of a parallel group are submitted together. */
export const longestSubmission = mostEntries;

// The patterns are for the API's description. Parsers check the values, with their own error messages.

export const destination = z.string('it is not a text; allowed is a URL, or the name of a URL group').check(
  z.meta({
    description: 'A URL, or the name of a URL group.',
    pattern: '^([hH][tT][tT][pP][sS]?:.+|[A-Za-z0-9._-]+)$',
  }),
);

/** The body of a message: the bytes of a text, or another value as JSON. */
const body = z.pipe(
  z.unknown().check(z.meta({ description: 'A text; any other value is sent as its JSON text.' })),
  z.transform((value) =>
    value === undefined || value === null || typeof value === 'string'
      ? (value ?? undefined)
      : JSON.stringify(value),
  ),
);

/** A message of a batch. Unknown fields are ignored, because clients in other languages send some. */
export const batchItem = z.object(
  {
    destination,
    body: z.optional(body),
    headers: optionalField(
      headersIn('The headers that a publish accepts: `Svc-Retries`, `Content-Type` and so on.'),
    ),
    queue: optionalField(
      z.string('it is not a text; allowed is the name of a queue').check(
        z.meta({
          description: 'The name of a queue, as for an enqueue; an empty one is absent.',
          pattern: `^$|${nameForm}`,
        }),
      ),
    ),
  },
  'it is not an object; allowed is {destination, body?, headers?, queue?}',
);
