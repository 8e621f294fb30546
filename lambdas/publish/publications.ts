/** Publishes many requests with few AWS calls. Each request is published completely or not at all. */
import type { Account } from '../account/account.ts';
import { HttpError } from '../error/httpError.ts';
import { secondMs } from '../shared/clock.ts';
import { eachOf, nextSize, weighedChunksOf } from '../shared/lists.ts';
import { log } from '../aws/log.ts';
import type { Message } from '../message/message.ts';
import { ensureQueues } from '../lane/queues.ts';
import { withCharges, type Charges } from '../usage/charge.ts';
import { acceptEach, answerOf, notStored, takeBack, type PublishAnswer } from './accept.ts';
import type { Draft, Prepared } from './prepare.ts';
import type { Deduplication } from '../options/deduplication.ts';
import { confirmKey, deduplicator, giveUpKey, type Deduplicated } from './repeated/deduplicate.ts';

/**
 * The states of a request, in order. It ends as `stored`, `refused` or `failed`. If it is refused or failed,
 * nothing is delivered.
 *
 * 1. `judged`: it is known which of its messages are duplicates. `refused` if that could not be found out in
 * time.
 * 2. `granted`: the account's limits allow its new messages, and its queue exists. Otherwise `refused`.
 * 3. `stored`: all its new messages and their first attempts are stored. Otherwise `failed`.
 */
type PublicationState =
  | { readonly name: 'judged' | 'granted' | 'stored' }
  | { readonly name: 'refused' | 'failed'; readonly error: HttpError };

interface Publication {
  readonly prepared: Prepared;
  readonly deduplicated: readonly Deduplicated[];
  readonly drafts: readonly Draft[];
  /** Earlier requests in the batch that store the same messages. If one of them fails, this one fails. */
  readonly dependsOn: readonly Publication[];
  state: PublicationState;
}

const atOnce = 20;

type Outcome = PublishAnswer | HttpError;

const finishingMs = 8 * secondMs;
const isLate = (remainingMs: () => number): boolean => remainingMs() < finishingMs;

const firstStep = 100;

/**
 * Publishes requests in steps. Requests that cannot begin in time are refused with 503.
 *
 * @param prepared each a request or its error
 * @param remainingMs until the function is ended
 * @returns an answer or error for each, in order
 * @throws HttpError 503 if there is no time to begin
 * @throws if it is unknown what the first step stored
 */
export async function publishAll(
  account: Account,
  prepared: readonly (Prepared | HttpError)[],
  remainingMs: () => number = () => Infinity,
): Promise<readonly Outcome[]> {
  if (isLate(remainingMs)) throw notBegun();
  const early = new Map<Prepared | HttpError, Outcome>();
  const others: Prepared[] = [];
  for (const item of prepared) {
    if (item instanceof HttpError) early.set(item, item);
    else if (item.deduplication?.by !== 'debounce') others.push(item);
    else if (isLate(remainingMs)) early.set(item, notBegun());
    else {
      const { publishDebounced } = await import('./repeated/debounce.ts');
      // One after another, so that the message has the newest body.
      early.set(item, await publishDebounced(account, item, item.deduplication).catch(refusalOf));
    }
  }
  const answers = (await publishInSteps(account, others, remainingMs)).values();
  return prepared.map((item) => early.get(item) ?? answers.next().value ?? notStored());
}

/** @throws the error if it is not a refusal */
function refusalOf(error: unknown): HttpError {
  if (error instanceof HttpError) return error;
  throw error;
}

const notBegun = (): HttpError =>
  new HttpError(
    503,
    'time_over',
    'The time for the request was over before this message was stored; it was not accepted, send it again.',
  );

const unknown = (): HttpError =>
  new HttpError(
    503,
    'service_failed',
    'The service failed on this message, which may still have been accepted. Send it again if that does no harm.',
  );

interface Steps {
  readonly deduplicate: ReturnType<typeof deduplicator>;
  readonly broughtBy: Map<Draft, Publication>;
}

async function publishInSteps(
  account: Account,
  prepared: readonly Prepared[],
  remainingMs: () => number,
): Promise<readonly Outcome[]> {
  const steps: Steps = { deduplicate: deduplicator(), broughtBy: new Map() };
  const outcomes: Outcome[] = [];
  let size = firstStep;
  while (outcomes.length < prepared.length) {
    const left = prepared.slice(outcomes.length);
    if (isLate(remainingMs)) return [...outcomes, ...left.map(notBegun)];
    const [step = []] = weighedChunksOf(left, size, ({ drafts }) => drafts.length);
    const before = remainingMs();
    try {
      outcomes.push(...(await publishStep(account, step, steps)));
    } catch (error) {
      if (outcomes.length === 0) throw error;
      log.error('A step of a batch failed', { error: error instanceof Error ? error : String(error) });
      const refusal = error instanceof HttpError ? error : unknown();
      return [...outcomes, ...step.map(() => refusal), ...left.slice(step.length).map(notStored)];
    }
    size = nextSize(size, before - remainingMs());
  }
  return outcomes;
}

async function publishStep(
  account: Account,
  prepared: readonly Prepared[],
  steps: Steps,
): Promise<readonly Outcome[]> {
  const publications = await judge(prepared, steps);
  const most = publications.reduce((sum, { drafts }) => sum + drafts.length, 0);
  await withCharges(account, most, async (charges) => {
    await grant(account, publications, charges);
    const failures = await store(publications, charges);
    await eachOf(publications, atOnce, (publication) => finish(publication, failures, charges));
  });
  return publications.map(outcomeOf);
}

const deduplicationOf = ({ deduplication }: Prepared): Deduplication | undefined =>
  deduplication?.by === 'debounce' ? undefined : deduplication;

/** Finds out which messages are duplicates. If a batch has equal messages, only the first is stored. */
async function judge(
  prepared: readonly Prepared[],
  { deduplicate, broughtBy }: Steps,
): Promise<readonly Publication[]> {
  const deduplicatedOf: (readonly Deduplicated[])[] = [];
  await eachOf(prepared, atOnce, async (item, index) => {
    deduplicatedOf[index] = await Promise.all(
      item.drafts.map((draft) => deduplicate(draft, deduplicationOf(item))),
    );
  });

  return prepared.map((item, index) => {
    const deduplicated = deduplicatedOf[index] ?? [];
    const wanted = new Set(deduplicated.flatMap(({ draft }) => draft ?? []));
    const [error] = deduplicated.flatMap((one) => one.error ?? []);
    const publication: Publication = {
      prepared: item,
      deduplicated,
      drafts: [...wanted].filter((draft) => !broughtBy.has(draft)),
      dependsOn: [...wanted].flatMap((draft) => broughtBy.get(draft) ?? []),
      state: error === undefined ? { name: 'judged' } : { name: 'refused', error },
    };
    for (const draft of publication.drafts) broughtBy.set(draft, publication);
    return publication;
  });
}

const inheritedError = ({ dependsOn }: Publication): HttpError | undefined =>
  dependsOn.flatMap(({ state }) => ('error' in state ? [state.error] : []))[0];

/**
 * Counts new messages against the account's limits, and creates missing queues. One after another, because
 * later requests may depend on earlier ones.
 */
async function grant(
  account: Account,
  publications: readonly Publication[],
  charges: Charges,
): Promise<void> {
  for (const publication of publications) {
    if (publication.state.name === 'refused') continue;
    const { length } = publication.drafts;
    const error = inheritedError(publication) ?? (length === 0 ? undefined : charges.charge(length));
    publication.state = error === undefined ? { name: 'granted' } : { name: 'refused', error };
  }

  const names = publications.flatMap((publication) => queueToUse(publication) ?? []);
  if (names.length === 0) return;
  const withoutQueue = await ensureQueues(account, names);
  for (const publication of publications) {
    if (publication.state.name !== 'granted') continue;
    const error = inheritedError(publication) ?? withoutQueue.get(queueToUse(publication) ?? '');
    if (error === undefined) continue;
    publication.state = { name: 'refused', error };
    charges.giveBack(publication.drafts.length);
  }
}

/** A request with only duplicates creates no queue. */
const queueToUse = ({ state, drafts, prepared }: Publication): string | undefined =>
  state.name === 'granted' && drafts.length > 0 ? prepared.queueName : undefined;

/** @returns the messages that were not stored, with reasons */
async function store(
  publications: readonly Publication[],
  charges: Charges,
): Promise<ReadonlyMap<Message, unknown>> {
  const granted = publications.filter(({ state }) => state.name === 'granted');
  const failures = await acceptEach(granted.flatMap(({ drafts }) => drafts));
  charges.giveBack(failures.size);
  for (const publication of granted) {
    const isStored =
      inheritedError(publication) === undefined &&
      publication.drafts.every(({ message }) => !failures.has(message));
    publication.state = isStored ? { name: 'stored' } : { name: 'failed', error: notStored() };
  }
  return failures;
}

/**
 * Tells later requests the outcome. If the request was not published, its deduplication keys are released and
 * its stored messages ended.
 */
async function finish(
  { state, deduplicated }: Publication,
  failures: ReadonlyMap<Message, unknown>,
  charges: Charges,
): Promise<void> {
  if (state.name === 'stored') {
    await Promise.all(deduplicated.map(confirmKey));
    return;
  }
  const givenUp = await Promise.all(
    deduplicated.map(async (one) => ((await giveUpKey(one)) ? (one.draft ?? []) : [])),
  );
  if (state.name !== 'failed') return;
  const drafts = givenUp.flat();
  await takeBack(drafts);
  charges.giveBack(drafts.filter(({ message }) => !failures.has(message)).length);
}

const outcomeOf = ({ state, prepared, deduplicated }: Publication): Outcome =>
  'error' in state ? state.error : answerOf(prepared, deduplicated);
