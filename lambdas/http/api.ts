import { bearerToken } from '../domain/credentials.ts';
import { forbidden } from '../domain/httpError.ts';
import { authenticate } from '../services/authenticate.ts';
import { admitCall, settleUsage, usageHeaders } from '../services/usage.ts';
import { handlerOf, type Call, type Endpoints, type Middleware } from './handler.ts';
import { findRoute, type MessagingFunction } from './routes.ts';

/** The token in the query, where a webhook's sender can set nothing else, or else the one in the header. */
function tokenOf({ request, canonical }: Call): string | undefined {
  return canonical.queryToken ?? bearerToken(request.headers);
}

const token: Middleware = {
  before: async ({ context }) => {
    const { call } = context;
    if (call === undefined || call.route.access === 'open') return;
    const caller = await authenticate(tokenOf(call));
    context.caller = caller;
    await admitCall(caller.account, call.request.body.length);
    if (call.route.access === 'write' && caller.access === 'read') {
      throw forbidden('The token is read-only; this operation changes something and takes the full token.');
    }
  },
};

/** Once a request is answered, well or not, what it used is added up; and the answer says when it is much. */
const usage: Middleware = {
  after: async (request) => {
    const { caller, call } = request.context;
    if (caller === undefined || call === undefined || request.response === null) return;
    await settleUsage(caller.account);
    const headers = usageHeaders(caller.account, call.canonical.prefix);
    request.response = { ...request.response, headers: { ...request.response.headers, ...headers } };
  },
  onError: async ({ context: { caller } }) => {
    if (caller !== undefined) await settleUsage(caller.account);
  },
};

/** The Lambda handler of one function of the messaging API. */
export const api = <F extends MessagingFunction>(endpoints: Endpoints<F>) =>
  handlerOf(endpoints, findRoute, [token, usage]);
