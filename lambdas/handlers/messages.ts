import { idsInBody, parseFilter } from '../api/filters.ts';
import { api } from '../http/messagingApi.ts';
import { variable } from '../http/request.ts';
import { messagesRoutes } from '../http/routeTable.ts';
import { cancelMessage, cancelMessages, getMessage } from '../services/message/messages.ts';

export const handler = api<'messages'>(messagesRoutes, {
  'GET /v2/messages/{messageId}': async (call) => ({
    status: 200,
    body: await getMessage(call.caller.account, variable(call, 'messageId')),
  }),
  'DELETE /v2/messages/{messageId}': async (call) => {
    await cancelMessage(call.caller.account, variable(call, 'messageId'));
    return { status: 200, body: { cancelled: 1 } };
  },
  'DELETE /v2/messages': async ({ request, canonical, caller }) => {
    const query = [...canonical.otherQuery, ...idsInBody('messages', request.body)];
    return { status: 200, body: await cancelMessages(caller.account, parseFilter('messages', query)) };
  },
});
