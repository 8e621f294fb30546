import { plugInWorkflows } from '../publish/workflows.ts';
import { badField } from '../error/httpError.ts';
import { changed, ok, type ApiResponse, type AuthenticatedCall } from '../http/handler.ts';
import { api } from '../http/messagingApi.ts';
import { cursorOf, listAnswer, readQuery } from '../http/query.ts';
import { nameIn, refuseBody, variable } from '../http/request.ts';
import { schedulesRoutes } from '../http/routeTable.ts';
import { runSchedule } from '../schedule/run.ts';
import { createSchedule, deleteSchedule, pauseSchedule } from '../schedule/schedules.ts';
import { changeSchedule } from '../schedule/changeSchedule.ts';
import type { Saved } from '../schedule/saveSchedule.ts';
import { explainCron, getNextFires } from '../schedule/explainCron.ts';
import { getFires } from '../schedule/lastFires.ts';
import { getSchedule, listSchedules } from '../schedule/shownSchedules.ts';

const scheduleId = (call: AuthenticatedCall): string => nameIn(call, 'schedule', 'The id of the schedule');

const shown = ({ changes, ...scheduled }: Saved): ApiResponse => ({ ...ok(scheduled), changes });

const setPaused = (isPaused: boolean) => async (call: AuthenticatedCall) =>
  changed(await pauseSchedule(call.caller.account, scheduleId(call), isPaused));

plugInWorkflows(async () => {
  const { publishRequests } = await import('../workflow/forPublish.ts');
  return { publishRequests };
});

export const handler = api('schedules', schedulesRoutes, {
  'POST /v2/schedules/{schedule+}': async (call) => {
    const { request, canonical, caller } = call;
    const saved = await createSchedule(caller.account, {
      ...canonical,
      destination: variable(call, 'schedule'),
      body: request.body,
      callerIp: request.callerIp,
      host: request.host,
    });
    return shown(saved);
  },
  'GET /v2/schedules': async (call) => {
    const cursor = cursorOf(call);
    const { search } = readQuery(call, ['search', 'cursor']);
    return listAnswer(call, await listSchedules(call.caller.account, search, cursor));
  },
  'GET /v2/schedules/{schedule}': async (call) =>
    ok(await getSchedule(call.caller.account, scheduleId(call))),
  'GET /v2/schedules/{schedule}/fires': async (call) =>
    ok(await getFires(call.caller.account, scheduleId(call))),
  'GET /v2/schedules/{schedule}/next': async (call) => {
    const { count } = readQuery(call, ['count']);
    return ok(await getNextFires(call.caller.account, scheduleId(call), count));
  },
  'PATCH /v2/schedules/{schedule}': async (call) => {
    const { body, host } = call.request;
    return shown(await changeSchedule(call.caller.account, scheduleId(call), { body, host }));
  },
  'DELETE /v2/schedules/{schedule}': async (call) =>
    changed(await deleteSchedule(call.caller.account, scheduleId(call))),
  'POST /v2/schedules/{schedule}/run': (call) => {
    refuseBody(call, 'the schedule has its own');
    return runSchedule(call.caller.account, scheduleId(call), call.request.host);
  },
  'POST /v2/schedules/{schedule}/pause': setPaused(true),
  'PATCH /v2/schedules/{schedule}/pause': setPaused(true),
  'POST /v2/schedules/{schedule}/resume': setPaused(false),
  'PATCH /v2/schedules/{schedule}/resume': setPaused(false),
  'GET /v2/cron': async (call) => {
    const { expression } = readQuery(call, ['expression']);
    if (expression === undefined) {
      throw badField('expression is missing; allowed is a cron expression such as "*/5 * * * *".');
    }
    return ok(await explainCron(expression));
  },
});
