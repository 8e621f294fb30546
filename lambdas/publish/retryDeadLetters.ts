import type * as answers from '../wire/answers.ts';
import type { Answer } from '../wire/answers.ts';
import type { CanonicalRequest } from '../request/dialect.ts';
import type { Filter } from '../wire/filters.ts';
import { parseOverrides, type PublishOptions } from '../request/publishOptions.ts';
import type { Account } from '../account/account.ts';
import { now } from '../shared/clock.ts';
import { HttpError, quote } from '../error/httpError.ts';
import { loadDeadLetter } from '../deadLetter/rows.ts';
import { destinationRules } from '../destination/rulesOfDeployment.ts';
import { bulkBudgetMs, onEach } from '../list/pages.ts';
import { isOfMessage, mostOf, noSuchDeadLetter, selection } from '../deadLetter/deadLetters.ts';
import { retry } from './resend.ts';

/** The configuration in it overrides the message's. */
export interface RetryRequest extends Pick<CanonicalRequest, 'prefix' | 'config'> {
  readonly host: string;
}

/** Dead letters in one step of a bulk retry. */
const retriedAtOnce = 100;

/** An answer could have 100,000 ids, but there is not enough time for as many. */
const mostResponses = 10_000;

export async function retryDeadLetter(
  account: Account,
  dlqId: string,
  request: RetryRequest,
): Promise<Answer<typeof answers.messageIdAnswer>> {
  const until = now() + bulkBudgetMs;
  const overrides = await overridesOf(account, request);
  const deadLetter = await loadDeadLetter(account.id, dlqId, now());
  const deadLetters = deadLetter !== undefined && isOfMessage(deadLetter) ? [deadLetter] : [];
  const outcomes = await retry(account, deadLetters, overrides, until);
  const outcome = outcomes.get(dlqId) ?? 'gone';
  if (outcome instanceof HttpError) throw outcome;
  if (outcome === 'gone') throw noSuchDeadLetter(dlqId);
  if (outcome === 'failed') {
    throw new HttpError(
      503,
      'not_stored',
      `The dead letter ${quote(dlqId)} could not be sent again; it is still there.`,
    );
  }
  return outcome;
}

/** Sends dead letters again. If this is repeated, those that were not sent are tried again. */
export async function retryDeadLetters(
  account: Account,
  filter: Filter,
  request: RetryRequest,
): Promise<Answer<typeof answers.retriedPage>> {
  const until = now() + bulkBudgetMs;
  const overrides = await overridesOf(account, request);
  const { scope, rows, selected } = await selection(account, filter, isOfMessage);
  const responses: { readonly messageId: string }[] = [];
  const limits = { count: Math.min(mostOf(filter), mostResponses), atOnce: retriedAtOnce, until };
  const cursor = await onEach(scope, rows, limits, selected, async (some) => {
    let refusal: HttpError | undefined;
    for (const outcome of (await retry(account, some, overrides, until)).values()) {
      if (outcome instanceof HttpError) refusal = outcome;
      else if (typeof outcome === 'object') responses.push(outcome);
    }
    if (refusal === undefined) return;
    refusal.message += ` Sent again before that: ${responses.length} dead letters.`;
    throw refusal;
  });
  return { cursor, responses };
}

const overridesOf = async (account: Account, request: RetryRequest): Promise<Partial<PublishOptions>> =>
  parseOverrides(request, account, await destinationRules(request.host, account), now());
