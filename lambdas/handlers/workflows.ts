import { badField, quote } from '../error/httpError.ts';
import type { HookRequest } from '../workflow/requestedWait.ts';
import { ok, type ApiResponse, type AuthenticatedCall, type Call, type Endpoints } from '../http/handler.ts';
import { api } from '../http/messagingApi.ts';
import { inBackground, submissions } from '../http/middlewares.ts';
import { readQuery } from '../http/query.ts';
import { segmentsOf, variable } from '../http/request.ts';
import { workflowsRoutes } from '../http/routeTable.ts';
import type { RetryRequest } from '../publish/retryDeadLetters.ts';
import { withQuery } from '../publish/prepare.ts';
import { cancelRuns } from '../workflow/cancelRuns.ts';
import { countRuns, listRuns } from '../workflow/logs.ts';
import {
  countRunDeadLetters,
  deleteRunDeadLetter,
  deleteRunDeadLetters,
  getRunDeadLetter,
  listRunDeadLetters,
} from '../workflow/deadLetters.ts';
import { endRunByRequest } from '../workflow/endRunByRequest.ts';
import { cancelFailureCallback, rerunFailureCallback } from '../workflow/rerunFailureCallback.ts';
import { callHook } from '../workflow/hooks.ts';
import { notifyAt, listWaiters } from '../workflow/notify.ts';
import { refusalOfRequest, refuseWhenBusy } from '../workflow/refusedRequests.ts';
import { rerunHanging, restartRun, restartRuns, resumeRun, resumeRuns } from '../workflow/resume.ts';
import { runEntries } from '../workflow/runEntries.ts';
import { wait } from '../workflow/waitForEvent.ts';

/** By default the request cancels a run. */
function isCancel(call: Call): boolean {
  const { cancel = 'true' } = readQuery(call, ['cancel']);
  if (cancel !== 'true' && cancel !== 'false') {
    throw badField(`cancel is ${quote(cancel)}; allowed are true and false.`);
  }
  return cancel === 'true';
}

/** When the run started, if the client distinguishes runs with the same id. */
function createdAtOf({ canonical: { config } }: Call): number | undefined {
  const [text] = config.get('workflow-createdat') ?? [];
  if (text === undefined) return undefined;
  if (!/^\d{1,15}$/.test(text)) {
    throw badField(`Workflow-CreatedAt is ${quote(text)}; allowed are Unix milliseconds.`);
  }
  return Number(text);
}

const eventIdOf = (call: Call): string => segmentsOf(call, 'eventId').join('/');

/** Makes a webhook's request as it was sent, with its URL. */
function hookRequest({ request, canonical }: Call): HookRequest {
  const { method, headers, body, host, basePath, rawPath } = request;
  // The last header of this name is the gateway's; earlier ones are the sender's.
  const proto = headers.findLast(([name]) => name === 'x-forwarded-proto')?.[1] === 'http' ? 'http' : 'https';
  const path = `${basePath}${rawPath.slice(Math.max(0, rawPath.indexOf('/v2/')))}`;
  // A webhook needs no token. If the query has one, it is not stored with the event.
  const query = request.query.filter(([, value]) => value !== canonical.queryToken);
  return { method, headers, body, proto, host, url: withQuery(path, query) };
}

async function hook(call: Call): Promise<ApiResponse> {
  await refuseWhenBusy(() =>
    callHook({
      accountId: variable(call, 'account'),
      runId: variable(call, 'runId'),
      eventId: variable(call, 'eventId'),
      request: hookRequest(call),
    }),
  );
  return ok({});
}

const overrides = ({ request, canonical }: AuthenticatedCall): RetryRequest => ({
  ...canonical,
  host: request.host,
});

const logs = async ({ canonical, caller }: AuthenticatedCall): Promise<ApiResponse> =>
  ok(await listRuns(caller.account, canonical.otherQuery));

const changed = async (work: () => Promise<unknown>): Promise<ApiResponse> => ok(await refuseWhenBusy(work));

const done = async (work: () => Promise<void>): Promise<ApiResponse> => {
  await refuseWhenBusy(work);
  return ok({});
};

/** Resumes or restarts a hanging run. */
const rerun = (kind: 'resume' | 'restart', call: AuthenticatedCall): Promise<ApiResponse> =>
  changed(() => {
    const which = { runId: variable(call, 'runId'), createdAt: createdAtOf(call) };
    return rerunHanging(kind, call.caller.account, which, overrides(call));
  });

/** Finds the run whose endpoint says that its function has returned. */
function endedBy(call: Call): string | undefined {
  const { request, route } = call;
  const isEnd = request.method === 'DELETE' && route.path === '/v2/workflows/runs/{runId}';
  const hasReturned = request.query.some(([name, value]) => name === 'cancel' && value === 'false');
  return isEnd && hasReturned ? variable(call, 'runId') : undefined;
}

const endpoints: Endpoints<'workflows'> = {
  'GET /v2/workflows/runs/count': async ({ caller, canonical }) =>
    ok(await countRuns(caller.account, canonical.otherQuery)),
  'GET /v2/workflows/runs/{runId}': async (call) =>
    ok(await runEntries(call.caller.account, variable(call, 'runId'))),
  'DELETE /v2/workflows/runs/{runId}': (call) =>
    done(() =>
      endRunByRequest(call.caller.account, {
        runId: variable(call, 'runId'),
        createdAt: createdAtOf(call),
        cancel: isCancel(call),
        body: call.request.body,
      }),
    ),
  'POST /v2/workflows/runs/{runId}/resume': (call) => rerun('resume', call),
  'POST /v2/workflows/runs/{runId}/restart': (call) => rerun('restart', call),
  'DELETE /v2/workflows/runs': ({ caller, canonical, request }) =>
    changed(() => cancelRuns(caller.account, canonical.otherQuery, request.body)),

  'GET /v2/workflows/logs': logs,
  'GET /v2/workflows/events': logs,

  'POST /v2/wait/{eventId+}': (call) =>
    changed(() => {
      const { canonical, request } = call;
      const { headers, body, host } = request;
      return wait(call.caller.account, { eventId: eventIdOf(call), canonical, headers, body, host });
    }),
  'POST /v2/notify/{event+}': (call) =>
    changed(() => notifyAt(call.caller.account, segmentsOf(call, 'event'), call.request.body)),
  'GET /v2/waiters/{eventId+}': async (call) => ok(await listWaiters(call.caller.account, eventIdOf(call))),

  'GET /v2/workflows/hooks/{account}/{runId}/{eventId}': hook,
  'HEAD /v2/workflows/hooks/{account}/{runId}/{eventId}': hook,
  'POST /v2/workflows/hooks/{account}/{runId}/{eventId}': hook,
  'PUT /v2/workflows/hooks/{account}/{runId}/{eventId}': hook,
  'PATCH /v2/workflows/hooks/{account}/{runId}/{eventId}': hook,
  'DELETE /v2/workflows/hooks/{account}/{runId}/{eventId}': hook,

  'GET /v2/workflows/dlq': async ({ caller, canonical }) =>
    ok(await listRunDeadLetters(caller.account, canonical.otherQuery)),
  'DELETE /v2/workflows/dlq': async ({ caller, canonical }) =>
    ok(await deleteRunDeadLetters(caller.account, canonical.otherQuery)),
  'GET /v2/workflows/dlq/count': async ({ caller, canonical }) =>
    ok(await countRunDeadLetters(caller.account, canonical.otherQuery)),
  'GET /v2/workflows/dlq/{dlqId}': async (call) =>
    ok(await getRunDeadLetter(call.caller.account, variable(call, 'dlqId'))),
  'DELETE /v2/workflows/dlq/{dlqId}': async (call) => {
    await deleteRunDeadLetter(call.caller.account, variable(call, 'dlqId'));
    return ok({ deleted: 1 });
  },
  'POST /v2/workflows/dlq/resume': (call) =>
    changed(() => resumeRuns(call.caller.account, call.canonical.otherQuery, overrides(call))),
  'POST /v2/workflows/dlq/resume/{dlqId}': (call) =>
    changed(() => resumeRun(call.caller.account, variable(call, 'dlqId'), overrides(call))),
  'POST /v2/workflows/dlq/restart': (call) =>
    changed(() => restartRuns(call.caller.account, call.canonical.otherQuery, overrides(call))),
  'POST /v2/workflows/dlq/restart/{dlqId}': (call) =>
    changed(() => restartRun(call.caller.account, variable(call, 'dlqId'), overrides(call))),
  'POST /v2/workflows/dlq/callback/{dlqId}': (call) =>
    changed(() => rerunFailureCallback(call.caller.account, variable(call, 'dlqId'))),
  'DELETE /v2/workflows/dlq/callback/{dlqId}': (call) =>
    done(() => cancelFailureCallback(call.caller.account, variable(call, 'dlqId'))),
};

export const handler = api('workflows', workflowsRoutes, endpoints, [
  submissions(() => Promise.resolve({ refusalOfRequest }), endedBy),
  inBackground,
]);
