/** Converts a Lambda function's result to the HTTP answer that a function URL would give. */
import * as z from 'zod/mini';
import type { DestinationResponse } from '../../destination/response.ts';
import { headerBytes, type Header } from '../../shared/headers.ts';

const plainValue = z.union([z.string(), z.number(), z.boolean()]);

const answerShape = z.object({
  statusCode: z.coerce.number().check(z.int(), z.minimum(200), z.maximum(599)),
  headers: z.nullish(z.record(z.string(), z.unknown())),
  cookies: z.nullish(z.array(z.string())),
  body: z.optional(z.unknown()),
  isBase64Encoded: z.nullish(z.boolean()),
});
type Answered = Pick<z.infer<typeof answerShape>, 'headers' | 'cookies'>;

const hasStatus = z.object({ statusCode: z.unknown() });

/** The error of a function that threw (made by its runtime), or that died (made by Lambda). */
const errorShape = z.object({
  errorMessage: z.optional(z.string()),
  errorType: z.optional(z.string()),
});

const json: Header = ['content-type', 'application/json'];

function parseOrUndefined(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const textOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('utf8');

/** Values other than text and numbers are left out. */
function headersOf({ headers, cookies }: Answered): readonly Header[] {
  const given = Object.entries(headers ?? {}).flatMap(([name, value]): Header[] => {
    const read = plainValue.safeParse(value);
    return read.success ? [[name.toLowerCase(), headerBytes(String(read.data))]] : [];
  });
  return [...given, ...(cookies ?? []).map((cookie): Header => ['set-cookie', headerBytes(cookie)])];
}

function bodyOf({ body, isBase64Encoded }: z.infer<typeof answerShape>): Uint8Array {
  if (body === undefined || body === null) return new Uint8Array();
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return Buffer.from(text, isBase64Encoded === true ? 'base64' : 'utf8');
}

/** In a streamed answer, these bytes are between the status with the headers (as JSON) and the body. */
const delimiter = Buffer.alloc(8);

function streamedAnswer(payload: Uint8Array): DestinationResponse | undefined {
  const end = Buffer.from(payload.buffer, payload.byteOffset, payload.length).indexOf(delimiter);
  if (end === -1) return undefined;
  const read = answerShape.safeParse(parseOrUndefined(textOf(payload.subarray(0, end))));
  if (!read.success) return undefined;
  const { statusCode: status } = read.data;
  return { status, headers: headersOf(read.data), body: payload.subarray(end + delimiter.length) };
}

const malformed = (payload: Uint8Array): DestinationResponse => ({
  status: 502,
  error:
    'The function returned an object with a statusCode that is not a valid HTTP answer; a status is 200 to 599.',
  headers: [json],
  body: payload,
});

function returned(payload: Uint8Array): DestinationResponse {
  const value = parseOrUndefined(textOf(payload));
  if (!hasStatus.safeParse(value).success) {
    if (value === undefined) return streamedAnswer(payload) ?? { status: 200, headers: [], body: payload };
    return { status: 200, headers: [json], body: payload };
  }
  const read = answerShape.safeParse(value);
  if (!read.success) return malformed(payload);
  return { status: read.data.statusCode, headers: headersOf(read.data), body: bodyOf(read.data) };
}

function failed(payload: Uint8Array): DestinationResponse {
  const read = errorShape.safeParse(parseOrUndefined(textOf(payload)));
  const { errorType, errorMessage } = read.success ? read.data : {};
  const what = [errorType, errorMessage].filter((text) => text !== undefined && text !== '').join(': ');
  return { status: 500, error: `The function failed. ${what}`.trim(), headers: [json], body: payload };
}

/**
 * Makes the answer of a function. An object with `statusCode` is that answer; anything else is a 200 with the JSON as the body.
 * An error of the function is a 500 that names it.
 *
 * @param payload the bytes that the function returned, or its error
 * @param maxBytes of the body; the rest is cut off
 */
export function functionAnswer(payload: Uint8Array, isError: boolean, maxBytes: number): DestinationResponse {
  const answer = isError ? failed(payload) : returned(payload);
  if (answer.body.length <= maxBytes) return answer;
  return { ...answer, body: answer.body.subarray(0, maxBytes), isCut: true };
}
