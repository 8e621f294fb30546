import { changesBetween } from '../audit/changes.ts';
import { getBulk, getBulks, resumeBulk, stopBulk } from '../bulk/bulks.ts';
import { readExtension, readPulling } from '../wire/pull.ts';
import { onlyPublishes } from '../account/namedCaller.ts';
import { parseFilter } from '../wire/filters.ts';
import { idsInBody } from '../wire/idBodies.ts';
import { parseCompletion } from '../wire/requests.ts';
import { settings } from '../aws/settings.ts';
import { parseMessageChange } from '../request/messageChange.ts';
import { now } from '../shared/clock.ts';
import { valuesOf } from '../shared/headers.ts';
import { badField, quote } from '../error/httpError.ts';
import { ok, type ApiResponse, type AuthenticatedCall, type Call, type Endpoints } from '../http/handler.ts';
import { api } from '../http/messagingApi.ts';
import { inBackground } from '../http/middlewares.ts';
import { refuseBody, variable } from '../http/request.ts';
import { messagesRoutes } from '../http/routeTable.ts';
import type * as Completions from '../delivery/complete.ts';
import type { Completing } from '../delivery/complete.ts';
import { changeMessage } from '../publish/change.ts';
import { publishAgain, type AgainRequest } from '../publish/again.ts';
import { listMessages } from '../publish/listMessages.ts';
import { getMessage, getMessageInAnyState } from '../publish/messages.ts';
import { countFailing } from '../waiting/failing.ts';
import { listUpcoming } from '../waiting/upcoming.ts';
import { cancelMessage, cancelMessages, countMessages } from '../publish/cancel.ts';

/** Shows a waiting message; with `state=ALL`, also one that has ended. */
function get(call: AuthenticatedCall): Promise<unknown> {
  const messageId = variable(call, 'messageId');
  const states = valuesOf(call.canonical.otherQuery, 'state');
  const other = states.find((state) => state !== 'ALL');
  if (other !== undefined) {
    throw badField(`state is ${quote(other)}; allowed is ALL, for a message that has ended as well.`);
  }
  return states.length === 0
    ? getMessage(call.caller.account, messageId)
    : getMessageInAnyState(call.caller.account, messageId);
}

function againRequest(call: AuthenticatedCall): AgainRequest {
  refuseBody(call, 'the message has its own');
  const { host, callerIp } = call.request;
  return { ...call.canonical, host, callerIp };
}

/** @param completedBy the token of the caller, if any */
async function complete(
  { request }: Call,
  completedBy: string | undefined,
  completingOf: (from: typeof Completions) => Completing | Promise<Completing>,
): Promise<ApiResponse> {
  // Loaded only now, because few processes complete attempts.
  const completions = await import('../delivery/complete.ts');
  const completing = await completingOf(completions);
  const { comment, ...answer } = parseCompletion(request.body);
  const noted = { ...completing, note: { completedBy, comment } };
  const attempt = await completions.completeAttempt(noted, answer);
  const { number, state, response } = attempt;
  const isOwn =
    attempt.completedBy === completedBy && attempt.comment === comment && response.status === answer.status;
  return {
    ...ok({ messageId: completing.messageId, retried: number, state, comment: attempt.comment }),
    // If another completion was first, the trail has its own entry for that one.
    changes: isOwn ? changesBetween(undefined, { status: response.status, comment }) : undefined,
  };
}

async function pull(call: AuthenticatedCall): Promise<ApiResponse> {
  const { account, named } = call.caller;
  const { url, ...taking } = readPulling(variable(call, 'name'), call.request.body);
  if (named?.scope === 'publish' && account.scope === undefined) throw onlyPublishes();
  account.scope?.refuse('The name', url);
  const { takeAll } = await import('../delivery/pulled.ts');
  return ok(await takeAll(account, taking));
}

const endpoints: Endpoints<'messages'> = {
  'GET /v2/messages': async ({ canonical, caller }) => {
    const filter = parseFilter('listedMessages', canonical.otherQuery);
    const { due } = filter;
    return ok(
      due === undefined
        ? await listMessages(caller.account, filter)
        : await listUpcoming(caller.account, filter, due),
    );
  },
  'GET /v2/messages/count': async ({ canonical, caller }) => {
    const query = canonical.otherQuery.filter(([name]) => name !== 'by');
    const by = valuesOf(canonical.otherQuery, 'by');
    const other = by.find((one, index) => !['state', 'failure'].includes(one) || index > 0);
    if (other !== undefined) throw badField(`by is ${quote(other)}; allowed is state or failure.`);
    if (by.includes('failure'))
      return ok(await countFailing(caller.account, parseFilter('listedMessages', query, 'uncounted')));
    const filter = parseFilter('messages', query, 'uncounted');
    return ok(await countMessages(caller.account, filter, by.length > 0));
  },
  'GET /v2/messages/{messageId}': async (call) => ok(await get(call)),
  'PATCH /v2/messages/{messageId}': async (call) => {
    const { account } = call.caller;
    const { canonical, request } = call;
    const changes = parseMessageChange(canonical, request.body, account, settings.headerPrefixes, now());
    return ok(await changeMessage(account, variable(call, 'messageId'), changes));
  },
  'POST /v2/messages/{messageId}/publish': (call) =>
    publishAgain(call.caller.account, variable(call, 'messageId'), againRequest(call)),
  // Only with `background=true`, which the middleware answers.
  'POST /v2/messages/publish': () => Promise.reject(badField('background is not given; allowed is true.')),
  'DELETE /v2/messages/{messageId}': async (call) => {
    await cancelMessage(call.caller.account, variable(call, 'messageId'));
    return ok({ cancelled: 1 });
  },
  'POST /v2/messages/{messageId}/complete': (call) =>
    complete(call, call.caller.named?.id ?? 'token', () => ({
      accountId: call.caller.account.id,
      messageId: variable(call, 'messageId'),
    })),
  'POST /v2/complete/{completion}': (call) =>
    complete(call, undefined, ({ namedBy }) => namedBy(variable(call, 'completion'))),
  'POST /v2/pull/{name}': pull,
  'POST /v2/extend/{completion}': async (call) => {
    const { extend } = await import('../delivery/extend.ts');
    return ok(await extend(variable(call, 'completion'), readExtension(call.request.body)));
  },
  'DELETE /v2/messages': async ({ request, canonical, caller }) => {
    const query = [...canonical.otherQuery, ...idsInBody('messages', request.body)];
    return ok(await cancelMessages(caller.account, parseFilter('messages', query)));
  },
  'GET /v2/bulk': async ({ caller }) => ok(await getBulks(caller.account)),
  'GET /v2/bulk/{bulkId}': async (call) => ok(await getBulk(call.caller.account, variable(call, 'bulkId'))),
  'DELETE /v2/bulk/{bulkId}': async (call) =>
    ok(await stopBulk(call.caller.account, variable(call, 'bulkId'))),
  'POST /v2/bulk/{bulkId}/resume': async (call) =>
    ok(await resumeBulk(call.caller.account, variable(call, 'bulkId'))),
};

export const handler = api('messages', messagesRoutes, endpoints, [inBackground]);
