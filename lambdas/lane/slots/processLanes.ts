import { setTimeout } from 'node:timers/promises';
import { now, secondMs } from '../../shared/clock.ts';
import type { LaneKey } from '../lane.ts';
import { loadLane, loadPage, saveLane, savePages } from '../store/laneRows.ts';
import { loadTenants, saveTenants } from '../store/tenants.ts';
import { sendAll, sendJob } from '../../job/send.ts';
import type { Granted } from './applyChanges.ts';
import { createLanes } from './changeLanes.ts';

/** @throws TransientError if some jobs could not be sent; no slot is granted then */
async function sendGranted(
  { accountId, kind: lane, name }: LaneKey,
  granted: readonly Granted[],
): Promise<void> {
  const time = now();
  await sendAll(granted, ({ messageId, attempt, queue, ticket }) => ({
    job: {
      kind: 'attempt',
      accountId,
      messageId,
      attempt,
      queue,
      admittedTo: { lane, name, ticket, sentAt: time },
    },
    dueAt: time,
  }));
}

/** SQS delays are whole seconds, so a pump may arrive up to a second early. Its worker waits for the rest. */
const sendPump = (
  { accountId, kind: lane, name }: LaneKey,
  dueAt: number,
  extendsLine: boolean,
): Promise<void> =>
  sendJob(
    { kind: 'pump', accountId, lane, name, dueAt, ...(extendsLine && { keepsFrom: 0 }) },
    dueAt - (secondMs - 1),
  );

export const lanes = createLanes({
  store: { load: loadLane, save: saveLane, loadPage, savePages, loadTenants, saveTenants },
  jobs: { sendGranted, sendPump },
  now,
  sleep: (ms) => setTimeout(ms),
  random: Math.random,
});
