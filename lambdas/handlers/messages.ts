import { idsInBody, parseFilter } from '../domain/filters.ts';
import { api } from '../http/api.ts';
import { firstVariable } from '../http/request.ts';
import { cancelMessage, cancelMessages, getMessage } from '../services/messages.ts';

export const handler = api<'messages'>({
  'GET /v2/messages/{messageId}': async (call) => ({
    status: 200,
    body: await getMessage(call.caller.account, firstVariable(call)),
  }),
  'DELETE /v2/messages/{messageId}': async (call) => {
    await cancelMessage(call.caller.account, firstVariable(call));
    return { status: 200, body: { cancelled: 1 } };
  },
  'DELETE /v2/messages': async ({ request, canonical, caller }) => {
    const query = [...canonical.otherQuery, ...idsInBody('messages', request.body)];
    return { status: 200, body: await cancelMessages(caller.account, parseFilter('messages', query)) };
  },
});
