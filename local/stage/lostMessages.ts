/**
 * At its start, a stage sends the messages that no queue, schedule or line has, and looks for missed fires. A kill in the middle
 * of an enqueue leaves such a message: its row is written before its place.
 */
import * as z from 'zod/mini';
import type { KnownAttempt } from '../../lambdas/recovery/missing.ts';
import { jsonOrUndefined } from '../json.ts';
import { storedSchedules } from '../scheduler/storedSchedules.ts';
import { storedMessages } from '../sqs/storedMessages.ts';
import { endKills, killsOf } from '../store/openStore.ts';
import type { Store } from '../store/store.ts';
import type { StandIns } from './standIns.ts';

const attempt = z.object({ accountId: z.string(), messageId: z.string(), attempt: z.number() });

export function knownAttempts(store: Store): readonly KnownAttempt[] {
  store.refresh();
  const texts = [
    ...[...storedMessages(store)].map(({ body }) => body),
    ...[...storedSchedules(store)].flatMap(({ settings: { Target } }) => Target.Input),
  ];
  return texts.flatMap((text) => attempt.safeParse(jsonOrUndefined(text)).data ?? []);
}

/** Sends such messages after a kill. Nothing may be written at the same time. */
export async function sendLostMessages(store: Store): Promise<void> {
  const kills = killsOf(store);
  if (kills === undefined) return;
  // The module reads its settings when it is loaded, so they must be set first.
  const { sendLost } = await import('../../lambdas/recovery/missing.ts');
  await sendLost(knownAttempts(store));
  await endKills(store, kills.last);
}

/** How often the leading process checks whether another was killed. */
const lookEveryMs = 10_000;
/** A message that a killed process accepted is looked for after this time: by then, requests of its time are answered. */
const settledMs = 40_000;

/**
 * Sends the messages that killed processes of a running stage have lost.
 *
 * @returns a function that ends the watch
 */
export function watchForLost(store: Store, report: (error: unknown) => void): () => Promise<void> {
  let running: Promise<void> | undefined;
  const look = async (): Promise<void> => {
    const kills = killsOf(store);
    if (kills === undefined || Date.now() - kills.last < settledMs) return;
    const { sendLostAtWork } = await import('../../lambdas/recovery/missing.ts');
    await sendLostAtWork(() => knownAttempts(store), kills.last);
    await endKills(store, kills.last);
  };
  const timer = setInterval(() => {
    running ??= look()
      .catch(report)
      .finally(() => {
        running = undefined;
      });
  }, lookEveryMs).unref();
  return async () => {
    clearInterval(timer);
    await running;
  };
}

const notice = z.object({ accountId: z.string(), scheduleId: z.string(), saveId: z.string() });

/** Starts the search for fires that schedules with `Svc-Catch-Up` missed while the stage was down. */
export async function lookForMissedFires({ scheduler, sqs }: StandIns): Promise<void> {
  const time = new Date().toISOString();
  const looks = [...scheduler.inputs()].flatMap((input) => {
    const fire = notice.safeParse(jsonOrUndefined(input)).data;
    return fire === undefined ? [] : [JSON.stringify({ ...fire, time, kind: 'look' })];
  });
  await Promise.all(looks.map((text) => sqs.send('fire', text)));
}
