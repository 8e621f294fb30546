import { limitsOf, type Account } from '../domain/account.ts';
import type * as answers from '../domain/answers.ts';
import type { Answer } from '../domain/answers.ts';
import { now } from '../domain/clock.ts';
import { parseDestination, parseUrl, refuseUnsafe } from '../domain/destination.ts';
import type { CanonicalRequest, Config, Header } from '../domain/dialect.ts';
import { badRequest, HttpError, notFound } from '../domain/httpError.ts';
import { derivedId, newId } from '../domain/ids.ts';
import { eachOf } from '../domain/lists.ts';
import { expiryOf, type Message } from '../domain/message.ts';
import { parsePublishOptions, type Deduplication } from '../domain/options.ts';
import type { Endpoint, UrlGroup } from '../domain/urlGroup.ts';
import { loadUrlGroup } from '../stores/urlGroups.ts';
import { accept, acceptEach, takeBack, type Draft } from './accept.ts';
import { confirm, deduplicator, giveUp, type Verdict } from './deduplicate.ts';
import { destinationRules } from './destinations.ts';
import { ensureQueue, ensureQueues } from './queues.ts';
import { gateOf, type Gate } from './usage.ts';

export interface PublishRequest extends Pick<
  CanonicalRequest,
  'prefix' | 'config' | 'otherHeaders' | 'otherQuery'
> {
  /** What follows in the raw path. */
  readonly destination: string;
  readonly queueName?: string | undefined;
  readonly body: Uint8Array;
  readonly callerIp: string;
  /** The host that the request came to. */
  readonly host: string;
  /** The fire of a schedule that publishes it. */
  readonly fire?: Fire | undefined;
}

/** A schedule's fire: from it follow the ids of its messages, so that firing twice makes them once. */
export interface Fire {
  readonly scheduleId: string;
  /** Unix milliseconds. */
  readonly time: number;
  /** Unguessable. */
  readonly seed: string;
}

export interface PublishAnswer {
  /** 200, or 202 for what was published before. */
  readonly status: number;
  /** A list where the destination is a URL group. */
  readonly body: Answer<typeof answers.publishAnswer>;
}

/** A gateway's own limit on a URL is close to this. */
const longestUrl = 8_192;

/**
 * A destination URL with the request's own query parameters behind those it has. A gateway hands them over decoded, and
 * with the values of one name together, so they are encoded again the way `encodeURIComponent` does; a destination
 * that needs other bytes or another order is published percent-encoded as a whole.
 */
export function withQuery(url: string, query: readonly Header[]): string {
  if (query.length === 0) return url;
  const added = query
    .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`)
    .join('&');
  return `${url}${url.includes('?') ? '&' : '?'}${added}`;
}

/** Settings that answer the same question: where a request answers it, a default of the other name must not. */
const alternatives = [['delay', 'not-before']] as const;

/** A request's configuration over that of its group. */
function withDefaults(config: Config, defaults: Config | undefined): Config {
  const merged = new Map([...(defaults ?? []), ...config]);
  for (const names of alternatives) {
    if (!names.some((name) => config.has(name))) continue;
    for (const name of names) if (!config.has(name)) merged.delete(name);
  }
  return merged;
}

export interface Prepared {
  readonly drafts: readonly Draft[];
  readonly isGroup: boolean;
  readonly queueName: string | undefined;
  readonly deduplication: Deduplication | undefined;
}

/**
 * Reads a request and makes its messages: one, or one for each endpoint of a URL group. Nothing is stored yet.
 *
 * @throws HttpError 400, 403, 404, 412 or 413
 */
export async function prepare(
  account: Account,
  request: PublishRequest,
  groupOf: (name: string) => Promise<UrlGroup | undefined> = (name) => loadUrlGroup(account.id, name),
): Promise<Prepared> {
  const limits = limitsOf(account);
  const { body } = request;
  if (body.length > limits.max_message_size) {
    throw new HttpError(
      413,
      `The body has ${body.length} bytes, but the account's limit max_message_size is ${limits.max_message_size} bytes.`,
    );
  }
  const destination = parseDestination(request.destination);
  const group = destination.kind === 'group' ? await groupOf(destination.name) : undefined;
  if (destination.kind === 'group' && group === undefined) {
    throw notFound(`There is no URL group ${JSON.stringify(destination.name)}.`);
  }
  const endpoints: readonly Endpoint[] =
    destination.kind === 'url' ? [{ url: destination.url }] : (group?.endpoints ?? []);

  const rules = destinationRules(request.host);
  const createdAt = now();
  const config = withDefaults(request.config, group?.defaults);
  const { deduplication, ...options } = parsePublishOptions(
    { ...request, config },
    account,
    rules,
    createdAt,
  );
  const drafts = endpoints.map((endpoint): Draft => {
    const url = parseUrl('The destination', withQuery(endpoint.url, request.otherQuery));
    if (url.length > longestUrl) {
      throw badRequest(`The destination has ${url.length} characters; allowed are ${longestUrl}.`);
    }
    refuseUnsafe('The destination', url, rules);
    const message: Message = {
      ...options,
      url,
      topicName: group?.name,
      endpointName: endpoint.name,
      queueName: request.queueName,
      scheduleId: request.fire?.scheduleId,
      messageId:
        request.fire === undefined
          ? newId('msg', createdAt)
          : derivedId('msg', request.fire.time, JSON.stringify([request.fire, endpoint])),
      accountId: account.id,
      prefix: request.prefix,
      createdAt,
      callerIp: request.callerIp,
      expiresAt: expiryOf(options, limits.max_dlq_retention_time_milis),
    };
    return { message, body };
  });
  return { drafts, isGroup: group !== undefined, queueName: request.queueName, deduplication };
}

function answerOf({ drafts, isGroup }: Prepared, verdicts: readonly Verdict[]): PublishAnswer {
  const published = verdicts.map(({ messageId, isDuplicate }) => ({
    messageId,
    ...(isDuplicate && { deduplicated: true as const }),
  }));
  const [first] = published;
  const status = verdicts.every(({ isDuplicate }) => isDuplicate) ? 202 : 200;
  if (!isGroup && first !== undefined) return { status, body: first };
  return {
    status,
    body: published.map((one, index) => ({ ...one, url: drafts[index]?.message.url ?? '' })),
  };
}

const notStored = (): HttpError =>
  new HttpError(503, 'The message could not be stored, and was not accepted; send it again.');

/**
 * Publishes to a URL, or to every endpoint of a URL group: to all of them or to none.
 *
 * @throws HttpError 400, 403, 404, 412, 413, 429 or 503; nothing is accepted then
 */
export async function publish(account: Account, request: PublishRequest): Promise<PublishAnswer> {
  const prepared = await prepare(account, request);
  const [only, ...others] = prepared.drafts;
  if (only !== undefined && others.length === 0 && prepared.deduplication === undefined) {
    const gate = await gateOf(account, 1);
    const refusal = gate.admit(1);
    if (refusal !== undefined) throw refusal;
    try {
      await ensureQueue(account, prepared.queueName);
      await accept(only);
    } catch (error) {
      gate.cancel();
      throw error;
    }
    return answerOf(prepared, [{ draft: only, messageId: only.message.messageId, isDuplicate: false }]);
  }
  const [outcome] = await publishPrepared(account, [prepared]);
  if (outcome instanceof HttpError || outcome === undefined) throw outcome ?? notStored();
  return outcome;
}

/** How many requests of a batch are looked into at once. */
const atOnce = 20;
/** How many messages the requests of a batch may make: what can be stored before the gateway gives up. */
const mostMessages = 5_000;

/**
 * Publishes many requests with few AWS calls. One that fails does not hold back the others.
 *
 * @param requests a request, or why it is none
 * @returns an answer or an error for each, in their order
 * @throws HttpError 400 when they make more than 5,000 messages; nothing is accepted then
 */
export async function publishBatch(
  account: Account,
  requests: readonly (PublishRequest | HttpError)[],
): Promise<readonly (PublishAnswer | HttpError)[]> {
  const groups = new Map<string, Promise<UrlGroup | undefined>>();
  const groupOf = (name: string): Promise<UrlGroup | undefined> => {
    const group = groups.get(name) ?? loadUrlGroup(account.id, name);
    groups.set(name, group);
    return group;
  };
  const prepared: (Prepared | HttpError)[] = [];
  await eachOf(requests, atOnce, async (request, index) => {
    prepared[index] =
      request instanceof HttpError ? request : await prepare(account, request, groupOf).catch(onlyHttpError);
  });
  const messages = prepared.reduce((sum, item) => sum + ('drafts' in item ? item.drafts.length : 0), 0);
  if (messages > mostMessages) {
    throw badRequest(
      `The batch makes ${messages} messages, groups counted out; allowed are ${mostMessages}.`,
    );
  }
  return publishPrepared(account, prepared);
}

function onlyHttpError(error: unknown): HttpError {
  if (error instanceof HttpError) return error;
  throw error;
}

/** What is to be accepted of each request, and which may not be. */
interface Admission {
  readonly drafts: ReadonlySet<Draft>;
  readonly refusals: ReadonlyMap<Prepared, HttpError>;
}

const draftsOf = (verdicts: readonly Verdict[] | undefined): readonly Draft[] => [
  ...new Set((verdicts ?? []).flatMap(({ draft }) => draft ?? [])),
];

/**
 * Counts what the requests would make against the account's limits, one after the other, and sees to it that their queues
 * are there. Of requests that are the same, the first decides for the others.
 */
async function admit(
  account: Account,
  verdicts: ReadonlyMap<Prepared, readonly Verdict[]>,
  gate: Gate,
): Promise<Admission> {
  const drafts = new Set<Draft>();
  const refused = new Map<Draft, HttpError>();
  const queues = new Map<string, Draft[]>();
  for (const [item, own] of verdicts) {
    const fresh = draftsOf(own).filter((draft) => !drafts.has(draft) && !refused.has(draft));
    if (fresh.length === 0) continue;
    const refusal = gate.admit(fresh.length);
    if (refusal !== undefined) {
      for (const draft of fresh) refused.set(draft, refusal);
      continue;
    }
    for (const draft of fresh) drafts.add(draft);
    const { queueName } = item;
    if (queueName === undefined) continue;
    queues.set(queueName, [...(queues.get(queueName) ?? []), ...fresh]);
  }
  const withoutQueue = queues.size === 0 ? [] : await ensureQueues(account, [...queues.keys()]);
  for (const [name, refusal] of withoutQueue) {
    for (const draft of queues.get(name) ?? []) {
      drafts.delete(draft);
      refused.set(draft, refusal);
      gate.giveBack(1);
    }
  }
  const refusals = new Map<Prepared, HttpError>();
  for (const [item, own] of verdicts) {
    const refusal = draftsOf(own).flatMap((draft) => refused.get(draft) ?? [])[0];
    if (refusal !== undefined) refusals.set(item, refusal);
  }
  return { drafts, refusals };
}

async function publishPrepared(
  account: Account,
  prepared: readonly (Prepared | HttpError)[],
): Promise<readonly (PublishAnswer | HttpError)[]> {
  const found = new Map<Prepared, readonly Verdict[]>();
  const deduplicate = deduplicator();
  await eachOf(prepared, atOnce, async (item) => {
    if (item instanceof HttpError) return;
    found.set(item, await Promise.all(item.drafts.map((draft) => deduplicate(draft, item.deduplication))));
  });
  // In the requests' order: what room is left goes to the first.
  const verdicts = new Map(
    prepared.flatMap((item): [Prepared, readonly Verdict[]][] =>
      item instanceof HttpError ? [] : [[item, found.get(item) ?? []]],
    ),
  );

  const gate = await gateOf(account, draftsOf([...verdicts.values()].flat()).length);
  try {
    const { drafts, refusals } = await admit(account, verdicts, gate);
    const list = [...drafts];
    const accepted = await acceptEach(list);
    const failed = new Set(list.filter((_, index) => accepted[index] !== true));
    gate.giveBack(failed.size);

    const outcomes: (PublishAnswer | HttpError)[] = [];
    await eachOf(prepared, atOnce, async (item, index) => {
      const own = item instanceof HttpError ? [] : (verdicts.get(item) ?? []);
      const refusal = item instanceof HttpError ? item : refusals.get(item);
      if (item instanceof HttpError || refusal !== undefined) {
        // Nothing that was not sent makes a duplicate of another.
        await Promise.all(own.map(giveUp));
        outcomes[index] = refusal ?? notStored();
      } else {
        outcomes[index] = await settle(item, own, failed, gate);
      }
    });
    gate.close();
    return outcomes;
  } catch (error) {
    gate.cancel();
    throw error;
  }
}

/** All of a request's messages are accepted or none: where one failed, the others are taken back. */
async function settle(
  item: Prepared,
  verdicts: readonly Verdict[],
  failed: ReadonlySet<Draft>,
  gate: Gate,
): Promise<PublishAnswer | HttpError> {
  if (verdicts.every(({ draft }) => draft === undefined || !failed.has(draft))) {
    await Promise.all(verdicts.map(confirm));
    return answerOf(item, verdicts);
  }
  const ended = await Promise.all(
    verdicts.map(async (verdict) => ((await giveUp(verdict)) ? (verdict.draft ?? []) : [])),
  );
  await takeBack(ended.flat());
  gate.giveBack(ended.flat().filter((draft) => !failed.has(draft)).length);
  return notStored();
}
