/** Not in `requests.ts`, because publish loads it at its start and needs no other body. */
import * as z from 'zod/mini';
import { mostEntries, nameForm } from '../shared/bounds.ts';
import { headersIn, optionalField } from '../shared/json.ts';

/** Items of a batch. */
export const longestBatch = 1_000;
/** Items of a run's batch: the branches of a parallel group are submitted together. */
export const longestSubmission = mostEntries;

// The patterns are for the description: the parsers check the values and have their own error messages.

export const destination = z.string('it is not a text; allowed is a URL, or the name of a URL group').check(
  z.meta({
    description: 'A URL, or the name of a URL group.',
    pattern: '^([hH][tT][tT][pP][sS]?:.+|[A-Za-z0-9._-]+)$',
  }),
);

/** The body of a message: bytes of a text, or the JSON text of another value. */
const body = z.pipe(
  z.unknown().check(z.meta({ description: 'A text; any other value is sent as its JSON text.' })),
  z.transform((value) =>
    value === undefined || value === null || typeof value === 'string'
      ? (value ?? undefined)
      : JSON.stringify(value),
  ),
);

/** One message of a batch. Unknown fields are ignored, because clients of other languages send some. */
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
