import * as z from 'zod/mini';
import { canonicalize } from '../request/dialect.ts';
import { withTrace } from '../request/traceContext.ts';
import { batchItem, longestBatch, longestSubmission } from '../wire/batchItem.ts';
import { readHeaders, type Header } from '../shared/headers.ts';
import { badRequest, HttpError } from '../error/httpError.ts';
import { codeOf, mostHeaders, parseJson, problemOf } from '../shared/json.ts';
import { eachOf } from '../shared/lists.ts';
import { parseName } from '../value/names.ts';
import { settings } from '../aws/settings.ts';
import type { PublishRequest } from './prepare.ts';
import { isOfRun } from './workflows.ts';

export interface BatchRequest {
  /** A JSON array of `{destination, body?, headers?, queue?}`. */
  readonly body: Uint8Array;
  /** The dialect of items whose headers do not show their dialect. */
  readonly prefix: string;
  /** Headers without an accepted prefix. Items without trace headers get these of the batch. */
  readonly otherHeaders?: readonly Header[];
  readonly callerIp: string;
  readonly host: string;
}

/** @throws HttpError 400 if the body is not a list, or is too long */
export async function readItems(request: BatchRequest): Promise<readonly (PublishRequest | HttpError)[]> {
  const items = parseJson('The body', request.body, batchBounds);
  if (!Array.isArray(items))
    throw badRequest('body_invalid', 'The body is not a list; allowed is a JSON array of messages.');
  refuseTooMany(items.length, longestSubmission);
  const read: (PublishRequest | HttpError)[] = [];
  await eachOf(items, 1, (one: unknown, index) => {
    read[index] = readItem(request, one, index);
  });
  const isSubmission = read.some((item) => !(item instanceof HttpError) && isOfRun(item));
  if (!isSubmission) refuseTooMany(items.length, longestBatch);
  return read;
}

function refuseTooMany(items: number, most: number): void {
  if (items > most) {
    throw badRequest('too_many_items', `The body has ${items} messages; allowed are ${most}.`);
  }
}

function readItem(request: BatchRequest, value: unknown, index: number): PublishRequest | HttpError {
  const place = `[${index}]`;
  const read = batchItem.safeParse(value);
  if (!read.success) return badRequest(codeOf(read.error), `${problemOf(read.error, place, [place])}.`);
  const { destination, body = '', headers = [], queue = '' } = read.data;
  try {
    const pairs = readHeaders(`${place}.headers`, headers);
    const canonical = canonicalize(pairs, [], settings.headerPrefixes);
    const item = {
      ...canonical,
      otherHeaders: withTrace(canonical.otherHeaders, request.otherHeaders ?? []),
      prefix: canonical.config.size === 0 ? request.prefix : canonical.prefix,
      place,
      destination,
      queueName: queue === '' ? undefined : parseName(`${place}.queue`, queue),
      body: Buffer.from(body),
      callerIp: request.callerIp,
      host: request.host,
    };
    return item;
  } catch (error) {
    return atPlace(place, orThrow(error));
  }
}

/** A run may submit thousands of branches with some twenty headers each. */
const batchBounds = { values: 500_000, depth: 100 };

/** The beginning of an error about a field that items have. */
const fieldOfItem = /^The (?=(destination|body) )/;

/**
 * Adds an item's place in the batch to its error: `[3].headers.Svc-Delay is …`.
 *
 * @param place undefined outside of batches
 */
export function atPlace(place: string | undefined, error: HttpError): HttpError {
  if (place === undefined || error.message.startsWith(place)) return error;
  const { message } = error;
  if (fieldOfItem.test(message)) error.message = `${place}.${message.replace(fieldOfItem, '')}`;
  else if (error.code === 'url_group_not_found') error.message = `${place}.destination: ${message}`;
  else if (isOfHeader(message)) error.message = `${place}.headers.${message}`;
  else error.message = `${place}: ${message}`;
  return error;
}

const isOfHeader = (message: string): boolean =>
  settings.headerPrefixes.some((prefix) => message.startsWith(`${prefix}-`));

/** Returns an error if it is an HttpError. @throws any other error */
export function orThrow(error: unknown): HttpError {
  if (error instanceof HttpError) return error;
  throw error;
}

const itemWithHeaders = z.object({
  headers: z.record(z.string(), z.unknown()),
  body: z.optional(z.unknown()),
});

/** The parts of a message that can be read even if it is invalid. */
export type Glimpse = Pick<PublishRequest, 'config' | 'body'>;

/** Reads the items that have headers, even if they are invalid. */
export function messagesIn(body: Uint8Array): readonly Glimpse[] {
  let items: unknown;
  try {
    items = parseJson('The body', body, batchBounds);
  } catch {
    return [messageInText(Buffer.from(body).toString('utf8'))];
  }
  if (!Array.isArray(items)) return [];
  return items.flatMap((item: unknown) => {
    const read = itemWithHeaders.safeParse(item);
    if (!read.success || Object.keys(read.data.headers).length > mostHeaders) return [];
    const headers = Object.entries(read.data.headers).flatMap(([name, value]): Header[] =>
      ['string', 'number', 'boolean'].includes(typeof value) ? [[name.toLowerCase(), String(value)]] : [],
    );
    return [glimpse(headers, typeof read.data.body === 'string' ? read.data.body : '')];
  });
}

const glimpse = (headers: readonly Header[], body: string): Glimpse => ({
  config: canonicalize(headers, [], settings.headerPrefixes).config,
  body: Buffer.from(body),
});

const workflowHeader = /"([a-z]+-workflow-[a-z-]+)"\s*:\s*"([^"\\]*)"/gi;

/** Finds the run that an invalid JSON body names. */
function messageInText(text: string): Glimpse {
  const found = new Map<string, string>();
  for (const [, name = '', value = ''] of text.matchAll(workflowHeader)) {
    if (!found.has(name.toLowerCase())) found.set(name.toLowerCase(), value);
  }
  return glimpse([...found], '');
}
