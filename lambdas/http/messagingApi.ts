import { forbidden } from '../error/httpError.ts';
import { authenticate } from '../account/authenticate.ts';
import type { Caller } from '../account/caller.ts';
import { logAndContinue } from '../aws/logAndContinue.ts';
import { learnHost, refuseOwnDelivery } from '../delivery/loopDetection.ts';
import { deploymentRules } from '../destination/rulesOfDeployment.ts';
import { callerIpOf, tokenOf } from './caller.ts';
import { reportUsage, usageHeaders } from '../usage/counter.ts';
import { limitCall } from '../usage/rateLimit.ts';
import type { Audited } from './auditing.ts';
import { handlerOf, type Endpoints, type Middleware, type RoutesOf } from './handler.ts';
import { finder } from './findRoute.ts';
import { type MessagingFunction, routesIn } from './route.ts';

const token: Middleware = {
  before: async ({ context }) => {
    const { call } = context;
    if (call === undefined || call.route.access === 'open') return;
    const callerIp = await callerIpOf(call.request);
    if (callerIp !== call.request.callerIp)
      context.call = { ...call, request: { ...call.request, callerIp } };
    // Both are read at the same time, so that a publish does not wait for the rules later.
    const [caller] = await Promise.all([
      authenticate(tokenOf(call.request.headers, call.canonical)),
      deploymentRules(),
    ]);
    context.caller = caller;
    if (caller.access !== 'write') context.shown = (await import('../wire/maskedAnswer.ts')).maskedAnswer;
    await learnHost('messaging', call.request.host);
    await refuseOwnDelivery(call.canonical, call.request.rawPath);
    await limitCall(caller.account, call.request.body.length);
    if (caller.access === 'publish' && call.route.publishes !== true) {
      const { onlyPublishes } = await import('../account/namedCaller.ts');
      throw onlyPublishes();
    }
    if (call.route.access === 'write' && caller.access === 'read') {
      throw forbidden(
        'token_read_only',
        'The token is read-only; this operation changes something, or shows redacted values, and requires the full token.',
      );
    }
  },
};

const noteUse = async (named: NonNullable<Caller['named']>): Promise<void> =>
  (await import('../account/namedCaller.ts')).noteUse(named);

const report = async ({ account, named }: Caller): Promise<unknown> =>
  Promise.all([reportUsage(account), named && logAndContinue(noteUse(named))]);

/** Reports a request's usage after any answer, and adds a warning header. */
const usage: Middleware = {
  after: async (request) => {
    const { caller, call } = request.context;
    if (caller === undefined || call === undefined || request.response === null) return;
    await report(caller);
    const headers = usageHeaders(caller.account, call.canonical.prefix);
    request.response = { ...request.response, headers: { ...request.response.headers, ...headers } };
  },
  onError: async ({ context: { caller } }) => {
    if (caller !== undefined) await report(caller);
  },
};

const begun = new WeakMap<object, Audited>();

/** Writes changes into the audit trail. A publish is only in the log. */
const trail: Middleware = {
  before: async ({ context }) => {
    const { call, caller } = context;
    if (call?.route.access !== 'write' || call.route.publishes === true || caller === undefined) return;
    const { beginAudited } = await import('./auditing.ts');
    const audited = await beginAudited(call, caller);
    if (audited !== undefined) begun.set(context, audited);
  },
  after: async ({ context, response }) => {
    const audited = begun.get(context);
    if (audited === undefined || response === null) return;
    const { finishAudited } = await import('./auditing.ts');
    await finishAudited(audited, response, context.changes);
  },
  onError: async ({ context, error }) => {
    const audited = begun.get(context);
    if (audited === undefined) return;
    const { refuseAudited } = await import('./auditing.ts');
    await refuseAudited(audited, error);
  },
};

export const publishingMiddlewares: readonly Middleware[] = [token, usage];

/** @param more middlewares of this function alone */
export const api = <F extends MessagingFunction>(
  name: F,
  own: RoutesOf<F>,
  endpoints: Endpoints<F>,
  more: readonly Middleware[] = [],
) => handlerOf(endpoints, finder(routesIn(name, own)), [...publishingMiddlewares, trail, ...more]);
