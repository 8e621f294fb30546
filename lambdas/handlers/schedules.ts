import { ConfigReader } from '../domain/dialect.ts';
import { parseName } from '../domain/names.ts';
import { api } from '../http/api.ts';
import type { AuthenticatedCall } from '../http/handler.ts';
import { firstVariable, rawTail } from '../http/request.ts';
import {
  createSchedule,
  deleteSchedule,
  getSchedule,
  listSchedules,
  pauseSchedule,
} from '../services/schedules.ts';

const setPaused = (isPaused: boolean) => async (call: AuthenticatedCall) => {
  await pauseSchedule(call.caller.account, firstVariable(call), isPaused);
  return { status: 200, body: {} };
};

export const handler = api<'schedules'>({
  'POST /v2/schedules/{schedule+}': async (call) => {
    const { request, canonical, caller } = call;
    return {
      status: 200,
      body: await createSchedule(caller.account, {
        ...canonical,
        destination: rawTail(call),
        queueName: new ConfigReader(canonical.prefix, canonical.config).read('queue-name', parseName),
        body: request.body,
        callerIp: request.callerIp,
        host: request.host,
      }),
    };
  },
  'GET /v2/schedules': async ({ caller }) => ({ status: 200, body: await listSchedules(caller.account) }),
  'GET /v2/schedules/{schedule}': async (call) => ({
    status: 200,
    body: await getSchedule(call.caller.account, firstVariable(call)),
  }),
  'DELETE /v2/schedules/{schedule}': async (call) => {
    await deleteSchedule(call.caller.account, firstVariable(call));
    return { status: 200, body: {} };
  },
  'POST /v2/schedules/{schedule}/pause': setPaused(true),
  'PATCH /v2/schedules/{schedule}/pause': setPaused(true),
  'POST /v2/schedules/{schedule}/resume': setPaused(false),
  'PATCH /v2/schedules/{schedule}/resume': setPaused(false),
});
