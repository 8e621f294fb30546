import type { batchAnswer } from '../wire/errorAnswers.ts';
import type { Answer } from '../wire/answers.ts';
import { jsonBytes, largestAnswer } from '../wire/answerSize.ts';
import { type Account, refuseWhileDraining } from '../account/account.ts';
import { badRequest, HttpError } from '../error/httpError.ts';
import { eachOf } from '../shared/lists.ts';
import type { UrlGroup } from '../urlGroup/urlGroup.ts';
import { loadUrlGroup } from '../urlGroup/rows.ts';
import { prepare, type Prepared, type PublishRequest } from './prepare.ts';
import { publishAll } from './publications.ts';
import { isOfWorkflow, workflowPublishing } from './workflows.ts';
import { atPlace, type BatchRequest, messagesIn, orThrow, readItems } from './batchItems.ts';

export { publishAll };

/**
 * Publishes up to 1,000 requests, or 10,000 of a run, which make up to 5,000 messages. Items of a workflow client are published
 * all or none, because it reads only the answer's status.
 *
 * @throws HttpError 400 for an invalid list, too many items or messages, or too large an answer; a workflow client gets the
 *   refusal of its item. Nothing is accepted
 */
export async function batch(
  account: Account,
  request: BatchRequest,
  remainingMs?: () => number,
): Promise<Answer<typeof batchAnswer>> {
  const read = await readItems(request);
  if (isForWorkflows(request, read)) {
    return (await workflowPublishing()).publishRequests(account, read.map(orThrowRefused));
  }
  refuseWhileDraining(account);
  const prepared = await prepareEach(account, read);
  refuseTooLarge(prepared);
  const outcomes = await publishAll(account, prepared, remainingMs);
  return outcomes.map((outcome) =>
    outcome instanceof HttpError
      ? { error: outcome.message, code: outcome.code, status: outcome.status }
      : outcome.body,
  );
}

/** @throws HttpError the error of an item */
function orThrowRefused<T>(item: T | HttpError): T {
  if (item instanceof HttpError) throw item;
  return item;
}

const isForWorkflows = (request: BatchRequest, read: readonly (PublishRequest | HttpError)[]): boolean =>
  read.some((item) => !(item instanceof HttpError) && isOfWorkflow(item)) ||
  (read.some((item) => item instanceof HttpError) && messagesIn(request.body).some(isOfWorkflow));

const atOnce = 20;

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
    prepared[index] =
      item instanceof HttpError
        ? item
        : await prepare(account, item, groupOf).catch((error: unknown) =>
            atPlace(item.place, orThrow(error)),
          );
  });
  return prepared;
}

/** The most messages of a batch: they must be stored before the gateway times out after 29 s. */
const mostMessages = 5_000;
/** Bytes of a message id and its JSON in an answer. */
const answerBytes = 120;
/** Bytes of the longest refusal, with its code. */
const refusalBytes = 550;

/** @throws HttpError 400 for too many messages, or too large an answer */
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

function mostAnswerBytes(item: Prepared | HttpError): number {
  if (item instanceof HttpError) return jsonBytes(item.message) + answerBytes;
  const urls = item.isGroup ? item.drafts.map(({ message }) => jsonBytes(message.url)) : [];
  const whole = urls.reduce((sum, bytes) => sum + bytes, item.drafts.length * answerBytes);
  return Math.max(whole, refusalBytes);
}
