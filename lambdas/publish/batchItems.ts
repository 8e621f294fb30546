import * as z from 'zod/mini';
import { canonicalize } from '../request/dialect.ts';
import { withTrace } from '../request/traceContext.ts';
import { batchItem, longestBatch } from '../wire/batchItem.ts';
import { readHeaders, type Header } from '../shared/headers.ts';
import { badRequest, HttpError } from '../error/httpError.ts';
import { codeOf, parseJson, problemOf } from '../shared/json.ts';
import { parseName } from '../value/names.ts';
import { settings } from '../aws/settings.ts';
import type { PublishRequest } from './prepare.ts';

export interface BatchRequest {
  /** A JSON array of `{destination, body?, headers?, queue?}`. */
  readonly body: Uint8Array;
  /** The dialect of items whose headers show none. */
  readonly prefix: string;
  /** Headers without an accepted prefix: items that name no trace belong to the one of the batch. */
  readonly otherHeaders?: readonly Header[];
  readonly callerIp: string;
  readonly host: string;
}

/**
 * Reads the items of a batch: each into a request, or the error that it is answered with.
 *
 * @throws HttpError 400 for a body that is no list, or too long
 */
export function readItems(request: BatchRequest): readonly (PublishRequest | HttpError)[] {
  const items = parseJson('The body', request.body);
  if (!Array.isArray(items))
    throw badRequest('body_invalid', 'The body is not a list; allowed is a JSON array of messages.');
  if (items.length > longestBatch) {
    throw badRequest('too_many_items', `The body has ${items.length} messages; allowed are ${longestBatch}.`);
  }
  return items.map((one: unknown, index) => readItem(request, one, index));
}

function readItem(request: BatchRequest, value: unknown, index: number): PublishRequest | HttpError {
  const read = batchItem.safeParse(value);
  if (!read.success) {
    const problem = problemOf(read.error, 'The item', ['item', index]);
    return badRequest(codeOf(read.error), `${problem}; allowed is {destination, body?, headers?, queue?}.`);
  }
  const { destination, body = '', headers = [], queue } = read.data;
  try {
    const pairs = readHeaders(`item.${index}.headers`, headers);
    const canonical = canonicalize(pairs, [], settings.headerPrefixes);
    const item = {
      ...canonical,
      otherHeaders: withTrace(canonical.otherHeaders, request.otherHeaders ?? []),
      prefix: canonical.config.size === 0 ? request.prefix : canonical.prefix,
      destination,
      queueName: queue === undefined ? undefined : parseName(`item.${index}.queue`, queue),
      body: Buffer.from(body),
      callerIp: request.callerIp,
      host: request.host,
    };
    return item;
  } catch (error) {
    return orThrow(error);
  }
}

/** An item's own error, which is its answer. @throws any other */
export function orThrow(error: unknown): HttpError {
  if (error instanceof HttpError) return error;
  throw error;
}

const itemWithHeaders = z.object({
  headers: z.record(z.string(), z.unknown()),
  body: z.optional(z.unknown()),
});

/** The configurations and bodies of all items that have headers, whatever else is wrong with them. */
export function messagesIn({ body }: BatchRequest): readonly Pick<PublishRequest, 'config' | 'body'>[] {
  const items = parseJson('The body', body);
  if (!Array.isArray(items)) return [];
  return items.flatMap((item: unknown) => {
    const read = itemWithHeaders.safeParse(item);
    if (!read.success) return [];
    const headers = Object.entries(read.data.headers).flatMap(([name, value]): Header[] =>
      typeof value === 'string' ? [[name.toLowerCase(), value]] : [],
    );
    const { config } = canonicalize(headers, [], settings.headerPrefixes);
    return [{ config, body: Buffer.from(typeof read.data.body === 'string' ? read.data.body : '') }];
  });
}
