import type { CanonicalRequest } from '../request/dialect.ts';
import { parseOverrides } from '../request/publishOptions.ts';
import { logAndContinue } from '../aws/logAndContinue.ts';
import { type Account, refuseWhileDraining } from '../account/account.ts';
import { now } from '../shared/clock.ts';
import { badRequest, notFound, quote } from '../error/httpError.ts';
import { newId } from '../shared/ids.ts';
import { checkBodySize } from '../message/bodies.ts';
import { noteRetry } from '../message/messages.ts';
import { destinationRules } from '../destination/rulesOfDeployment.ts';
import { loadAccepted, loadKeptBody } from './messages.ts';
import { urlOf, renewed, type Draft } from './prepare.ts';
import type { PublishAnswer } from './accept.ts';
import { publishOne } from './publish.ts';

/** The configuration in it overrides the message's. */
export interface AgainRequest extends Pick<CanonicalRequest, 'prefix' | 'config'> {
  readonly host: string;
  readonly callerIp: string;
}

/**
 * Publishes a waiting or finished message again, under a new id. A message of a URL group goes only to its
 * own endpoint.
 *
 * @throws HttpError 404 for a missing message or body; 400 for a message of a run; or as a publish does
 */
export async function publishAgain(
  account: Account,
  messageId: string,
  request: AgainRequest,
): Promise<PublishAnswer> {
  refuseWhileDraining(account);
  const draftAgain = await drafting(account, request);
  const newMessageId = newId('msg', now(), account.shards);
  const { message, body } = await draftAgain(messageId, newMessageId);
  const draft = { message: { ...message, callerIp: request.callerIp }, body };
  const { queueName } = message;
  const prepared = { drafts: [draft], isGroup: false, queueName, deduplication: undefined };
  const answer = await publishOne(account, prepared, draft);
  await logAndContinue(noteRetry({ accountId: account.id, messageId }, newMessageId));
  return answer;
}

/**
 * @returns a function that makes the new message. It throws HttpError 400 or 404, or if the destination is no
 * longer allowed
 */
export async function drafting(account: Account, request: Omit<AgainRequest, 'callerIp'>) {
  const rules = await destinationRules(request.host, account);
  const overrides = parseOverrides(request, account, rules, now());
  return async (messageId: string, newMessageId: string): Promise<Draft> => {
    const history = await loadAccepted(account, messageId);
    const { message } = history;
    if (message.workflow !== undefined) {
      throw badRequest(
        'message_of_run',
        `The message ${quote(messageId)} belongs to the run ${quote(message.workflow.runId)}; start another run, or resume or restart this one once it has failed.`,
      );
    }
    const body = await loadKeptBody(history);
    if (body === undefined)
      throw notFound('message_not_found', `The body of ${quote(messageId)} is no longer kept.`);
    // Checked again, because the rules may have changed.
    urlOf(message, [], rules);
    checkBodySize(account, body);
    return { message: renewed(account, message, overrides, newMessageId), body };
  };
}
