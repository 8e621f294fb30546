/** The lanes of this deployment, as this process changes them. */
import { setTimeout } from 'node:timers/promises';
import { now, secondMs } from '../../shared/clock.ts';
import type { LaneKey } from '../lane.ts';
import { loadLane, loadPage, saveLane, savePages } from '../store/lanes.ts';
import { sendAll, sendJob } from '../../job/send.ts';
import { createLanes, type Admitted } from './lanes.ts';

/** @throws TransientError when the work of some could not be sent: then none of them is admitted */
async function sendAdmitted(
  { accountId, kind: lane, name }: LaneKey,
  admitted: readonly Admitted[],
): Promise<void> {
  const time = now();
  await sendAll(admitted, ({ messageId, attempt, queue, ticket }) => ({
    work: {
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

/** Message timers count whole seconds. A pump comes up to a second early, and its worker waits for the rest. */
const sendPump = ({ accountId, kind: lane, name }: LaneKey, dueAt: number, keeps: boolean): Promise<void> =>
  sendJob(
    { kind: 'pump', accountId, lane, name, dueAt, ...(keeps && { keepsFrom: 0 }) },
    dueAt - (secondMs - 1),
  );

export const lanes = createLanes({
  store: { load: loadLane, save: saveLane, loadPage, savePages },
  work: { sendAdmitted, sendPump },
  now,
  sleep: (ms) => setTimeout(ms),
  random: Math.random,
});
