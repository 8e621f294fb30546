import * as z from 'zod/mini';
import { nameForm, signatureEncodings, urlForm } from '../shared/bounds.ts';
import type { DestinationResponse } from '../destination/response.ts';
import { badField } from '../error/httpError.ts';
import { made } from '../options/option.ts';
import { readHeaders } from '../shared/headers.ts';
import { headersIn, optionalField, parseShape } from '../shared/json.ts';
import { batchItem, destination } from './batchItem.ts';

// The patterns are for the API's description. Parsers check the values, with their own error messages.

/** The changes of a schedule. Missing fields stay as they are. */
export const scheduleChange = z.strictObject({
  destination: optionalField(destination),
  body: optionalField(z.string()),
  headers: optionalField(
    headersIn(
      'The headers that the creation of a schedule accepts: `Svc-Cron`, `Svc-Retries`, `Content-Type` and so on. An empty value removes the header.',
    ),
  ),
});

const textOrNumber = z.union([z.string(), z.number()]);

/** The changes of a waiting message. Missing fields stay as they are. */
export const messageChange = z.strictObject({
  delay: optionalField(
    z.string().check(z.describe('How long its next attempt waits from now on: `Svc-Delay`.')),
  ),
  notBefore: optionalField(
    textOrNumber.check(
      z.describe('The earliest time of its next attempt, in Unix seconds. Takes precedence over the delay.'),
    ),
  ),
  retries: optionalField(
    textOrNumber.check(
      z.describe('How often a failed delivery is retried, including the retries that were already made.'),
    ),
  ),
  timeout: optionalField(z.string().check(z.describe('How long the destination may take to answer: `30s`.'))),
  label: optionalField(
    z
      .union([z.string(), z.array(z.string())])
      .check(z.describe('Its new labels, which replace the earlier ones; an empty text removes them.')),
  ),
  headers: optionalField(
    headersIn(
      '`Content-Type` and `Svc-Forward-*`, in place of headers with the same names. An empty value removes the header.',
    ),
  ),
});

export const queueSettings = z.strictObject({
  queueName: z
    .string()
    .check(
      z.meta({ description: 'The queue’s name: letters, digits, `.`, `_` and `-`.', pattern: nameForm }),
    ),
  parallelism: optionalField(
    z
      .int()
      .check(
        z.minimum(1),
        z.describe(
          'The number of messages that may be in flight at once. Default: the current value, or 1 for a new queue.',
        ),
      ),
  ),
  paused: optionalField(
    z
      .boolean()
      .check(
        z.describe('Whether the queue is paused. Default: the current value, or `false` for a new queue.'),
      ),
  ),
  circuit: z.optional(
    z
      .nullable(z.enum(['on', 'off']))
      .check(
        z.describe(
          'Whether its messages wait while their host is down; `null` uses the account’s setting. Default: the current value.',
        ),
      ),
  ),
});

/** A space at either end would be lost: HTTP trims the values of headers. */
const endpointNameForm =
  '^[^\\s\\x00-\\x1f\\x7f-\\x9f]([^\\x00-\\x1f\\x7f-\\x9f\\u2028\\u2029]{0,126}[^\\s\\x00-\\x1f\\x7f-\\x9f])?$';
const endpointName = z
  .string()
  .check(
    z.regex(
      new RegExp(endpointNameForm, 'u'),
      'it is not 1 to 128 printable characters without a space at either end',
    ),
    z.describe('Names the endpoint within its group: 1 to 128 printable characters.'),
  );

const endpointUrl = z.string().check(z.meta({ format: 'uri', pattern: urlForm }));

/** A signature in the receiver's own header. */
const signatureSettings = z.strictObject({
  header: z
    .string()
    .check(z.meta({ description: 'The name of the header, such as `X-Acme-Signature`.', maxLength: 64 })),
  encoding: z.enum(signatureEncodings),
  prefix: optionalField(
    z.string().check(z.meta({ description: 'Text before the value, such as `sha256=`.', maxLength: 32 })),
  ),
});

export const addedEndpoints = z.object({
  endpoints: z
    .array(
      z.object({
        url: endpointUrl,
        name: optionalField(endpointName),
        signature: optionalField(signatureSettings),
      }),
    )
    .check(z.minLength(1)),
});

/** Each endpoint is named by its URL, its name, or both. */
const endpointKeys = z
  .array(
    z
      .object({ url: optionalField(z.string()), name: optionalField(endpointName) })
      .check(z.meta({ anyOf: [{ required: ['url'] }, { required: ['name'] }] })),
  )
  .check(z.minLength(1));

export const removedEndpoints = z.object({ endpoints: endpointKeys });

export const rotatedSignatures = z.strictObject({
  endpoints: endpointKeys,
  overlap: optionalField(
    z
      .string()
      .check(
        z.describe(
          'How long deliveries are also signed with the earlier secret: `24h` by default, from `0s` to `7d`.',
        ),
      ),
  ),
});

export const endedOverlaps = z.strictObject({ endpoints: endpointKeys });

export const groupDefaults = z.object({
  headers: headersIn('Headers of the service such as `Svc-Retries`. Headers of a request take precedence.'),
});

export const triggerItem = /* @__PURE__ */ made(() =>
  z.extend(z.omit(batchItem, { queue: true }), {
    destination: z
      .string()
      .check(z.meta({ description: 'The URL of the workflow’s endpoint.', format: 'uri', pattern: urlForm })),
  }),
);

/** The longest comment. The audit trail keeps as many characters of a value. */
const longestCommentLength = 200;

/** The completion of an attempt: the later answer of its destination. */
export const completion = z.strictObject({
  status: z
    .int()
    .check(
      z.minimum(200),
      z.maximum(599),
      z.describe('The status of the answer: 2XX is a success, and anything else is retried.'),
    ),
  headers: optionalField(headersIn('The headers of the answer, such as `Retry-After`.')),
  body: optionalField(z.string().check(z.describe('The body, as text.'))),
  bodyBase64: optionalField(
    z
      .string()
      .check(
        z.regex(/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/),
        z.describe('The body in base64, in place of `body`.'),
      ),
  ),
  comment: optionalField(
    z
      .string()
      .check(
        z.minLength(1),
        z.maxLength(longestCommentLength),
        z.describe('Why, for the log. The destination of the message and its callbacks do not get it.'),
      ),
  ),
});

type Completion = DestinationResponse & { readonly comment?: string | undefined };

export function parseCompletion(bytes: Uint8Array): Completion {
  const allowed =
    '{"status": 200 to 599, "headers"?: {"<name>": "<value>"}, "body"?: "<text>" or "bodyBase64"?: "<base64>", "comment"?: "<1 to 200 characters>"}';
  const {
    status,
    headers = [],
    body,
    bodyBase64,
    comment,
  } = parseShape('The body', bytes, completion, allowed);
  if (body !== undefined && bodyBase64 !== undefined) {
    throw badField('body and bodyBase64 are both given; allowed is one of them.');
  }
  return {
    status,
    headers: readHeaders('headers', headers),
    body: bodyBase64 === undefined ? Buffer.from(body ?? '') : Buffer.from(bodyBase64, 'base64'),
    comment,
  };
}
