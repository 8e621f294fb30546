import type { Account } from '../domain/account.ts';
import type * as answers from '../domain/answers.ts';
import type { Answer } from '../domain/answers.ts';
import { canonicalize } from '../domain/dialect.ts';
import { readHeaders } from '../domain/headers.ts';
import { badRequest, HttpError } from '../domain/httpError.ts';
import { parseJson } from '../domain/json.ts';
import { parseName } from '../domain/names.ts';
import { batchItem, longestBatch } from '../domain/requests.ts';
import { settings } from '../settings.ts';
import { publishBatch, type PublishRequest } from './publish.ts';

export interface BatchRequest {
  /** A JSON array of `{destination, body?, headers?, queue?}`. */
  readonly body: Uint8Array;
  /** The dialect of items that do not show one. */
  readonly prefix: string;
  readonly callerIp: string;
  readonly host: string;
}

/**
 * Publishes up to 1,000 messages. Each item has its own answer, in its place.
 *
 * @throws HttpError 400 when the body is no list of at most 1,000 items; nothing is accepted then
 */
export async function batch(
  account: Account,
  request: BatchRequest,
): Promise<Answer<typeof answers.batchAnswer>> {
  const items = parseJson('The body', request.body);
  if (!Array.isArray(items)) throw badRequest('The body is not a list; allowed is a JSON array of messages.');
  if (items.length > longestBatch) {
    throw badRequest(`The body has ${items.length} messages; allowed are ${longestBatch}.`);
  }
  const outcomes = await publishBatch(
    account,
    items.map((one: unknown, index) => readItem(request, one, index)),
  );
  return outcomes.map((outcome) =>
    outcome instanceof HttpError ? { error: outcome.message, status: outcome.status } : outcome.body,
  );
}

function readItem(request: BatchRequest, value: unknown, index: number): PublishRequest | HttpError {
  const read = batchItem.safeParse(value);
  if (!read.success) {
    const [issue] = read.error.issues;
    const where = ['item', index, ...(issue?.path ?? [])].join('.');
    return badRequest(
      `${where}: ${issue?.message ?? 'it is malformed'}; allowed is {destination, body?, headers?, queue?}.`,
    );
  }
  const { destination, body = '', headers = {}, queue } = read.data;
  try {
    const pairs = readHeaders(`item.${index}.headers`, headers);
    const canonical = canonicalize(pairs, [], settings.headerPrefixes);
    return {
      ...canonical,
      prefix: canonical.config.size === 0 ? request.prefix : canonical.prefix,
      destination,
      queueName: queue === undefined ? undefined : parseName(`item.${index}.queue`, queue),
      body: Buffer.from(body),
      callerIp: request.callerIp,
      host: request.host,
    };
  } catch (error) {
    if (error instanceof HttpError) return error;
    throw error;
  }
}
