import * as z from 'zod/mini';
import type { batchAnswer } from '../wire/errorAnswers.ts';
import type { Answer } from '../wire/answers.ts';
import { jsonBytes, largestAnswer } from '../wire/answerSize.ts';
import { canonicalize } from '../request/dialect.ts';
import { batchItem, longestBatch } from '../wire/batchItem.ts';
import type { Account } from '../account/account.ts';
import { refuseWhileDraining } from '../account/draining.ts';
import { readHeaders, type Header } from '../shared/headers.ts';
import { badRequest, HttpError } from '../error/httpError.ts';
import { codeOf, parseJson, problemOf } from '../shared/json.ts';
import { eachOf } from '../shared/lists.ts';
import { parseName } from '../value/names.ts';
import type { UrlGroup } from '../urlGroup/urlGroup.ts';
import { settings } from '../aws/settings.ts';
import { loadUrlGroup } from '../urlGroup/rows.ts';
import { prepare, type Prepared, type PublishRequest } from './prepare.ts';
import { publishAll } from './publications.ts';
import { isOfWorkflow, workflowPublishing } from './workflows.ts';

export interface BatchRequest {
  /** A JSON array of `{destination, body?, headers?, queue?}`. */
  readonly body: Uint8Array;
  /** The dialect of items whose headers show none. */
  readonly prefix: string;
  readonly callerIp: string;
  readonly host: string;
}

/**
 * Publishes up to 1,000 requests, which make up to 5,000 messages. Each item has its own answer, in its place. Those of a
 * workflow client are published all or none: it reads the status of the answer, and no item's.
 *
 * @throws HttpError 400 when the body is no list of at most 1,000 items, when they make more messages, or when the answer
 * would be too large; nothing is accepted then
 */
export async function batch(account: Account, request: BatchRequest): Promise<Answer<typeof batchAnswer>> {
  const read = await readOrRefuse(account, request);
  if (read.some((item) => !(item instanceof HttpError) && isOfWorkflow(item))) {
    return (await workflowPublishing()).publishRequests(account, read.map(orThrowRefused));
  }
  refuseWhileDraining(account);
  const prepared = await prepareEach(account, read);
  refuseTooLarge(prepared);
  const outcomes = await publishAll(account, prepared);
  return outcomes.map((outcome) =>
    outcome instanceof HttpError
      ? { error: outcome.message, code: outcome.code, status: outcome.status }
      : outcome.body,
  );
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
    return orThrow(error);
  }
}

/** An item's own error, which is its answer. @throws any other */
function orThrow(error: unknown): HttpError {
  if (error instanceof HttpError) return error;
  throw error;
}

/** @throws HttpError the error of an item */
function orThrowRefused<T>(item: T | HttpError): T {
  if (item instanceof HttpError) throw item;
  return item;
}

/**
 * Reads the items of a batch, as {@link readItems} does.
 *
 * @throws HttpError for any item that is malformed, where some are of workflows; with the status that their client takes for
 * what it is
 */
async function readOrRefuse(
  account: Account,
  request: BatchRequest,
): Promise<readonly (PublishRequest | HttpError)[]> {
  let refused: HttpError | undefined;
  try {
    const read = readItems(request);
    refused = read.find((item) => item instanceof HttpError);
    if (refused === undefined) return read;
    if (!messagesIn(request).some(isOfWorkflow)) return read;
  } catch (error) {
    refused = orThrow(error);
  }
  const { refusalOfRequest } = await workflowPublishing();
  throw (await refusalOfRequest?.(account, messagesIn(request), refused)) ?? refused;
}

const itemWithHeaders = z.object({
  headers: z.record(z.string(), z.unknown()),
  body: z.optional(z.unknown()),
});

/** The configurations and bodies of all items that have headers, whatever else is wrong with them. */
function messagesIn({ body }: BatchRequest): readonly Pick<PublishRequest, 'config' | 'body'>[] {
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

/** Items that are prepared at once. */
const atOnce = 20;

/** Prepares the items; each URL group is read once. */
async function prepareEach(
  account: Account,
  items: readonly (PublishRequest | HttpError)[],
): Promise<readonly (Prepared | HttpError)[]> {
  const groups = new Map<string, Promise<UrlGroup | undefined>>();
  const groupOf = (name: string): Promise<UrlGroup | undefined> => {
    const group = groups.get(name) ?? loadUrlGroup(account.id, name);
    groups.set(name, group);
    return group;
  };
  const prepared: (Prepared | HttpError)[] = [];
  await eachOf(items, atOnce, async (item, index) => {
    prepared[index] = item instanceof HttpError ? item : await prepare(account, item, groupOf).catch(orThrow);
  });
  return prepared;
}

/** Messages that a batch may make: they can be stored before the gateway gives up, after 29 s. */
const mostMessages = 5_000;
/** Bytes of a message's id and the JSON around it in an answer. */
const verdictBytes = 120;
/** Bytes of the longest refusal that publishing makes, with its code. */
const refusalBytes = 550;

/** @throws HttpError 400 when a batch makes too many messages, or may have too large an answer */
function refuseTooLarge(prepared: readonly (Prepared | HttpError)[]): void {
  let messages = 0;
  let bytes = 0;
  for (const item of prepared) {
    messages += item instanceof HttpError ? 0 : item.drafts.length;
    bytes += mostAnswerBytes(item);
  }
  if (messages > mostMessages) {
    throw badRequest(
      'too_many_items',
      `The batch makes ${messages} messages, groups counted out; allowed are ${mostMessages}.`,
    );
  }
  if (bytes > largestAnswer) {
    throw badRequest(
      'too_many_items',
      `The answer to the batch would have up to ${bytes} bytes, with the URL of each endpoint; allowed are ${largestAnswer}. Send it in several.`,
    );
  }
}

/** Bytes that the answer to an item may have, whether it is published or refused. */
function mostAnswerBytes(item: Prepared | HttpError): number {
  if (item instanceof HttpError) return jsonBytes(item.message) + verdictBytes;
  const urls = item.isGroup ? item.drafts.map(({ message }) => jsonBytes(message.url)) : [];
  const whole = urls.reduce((sum, bytes) => sum + bytes, item.drafts.length * verdictBytes);
  return Math.max(whole, refusalBytes);
}
