/**
 * Sends messages that are in no queue, schedule or line, and looks for missed fires. If a process is killed
 * while a message joins a queue's line, it leaves such a message: its row is written first. The leading
 * process does this.
 */
import { setImmediate } from 'node:timers/promises';
import * as z from 'zod/mini';
import type { KnownAttempt } from '../../lambdas/recovery/missing.ts';
import { jsonOrUndefined } from '../json.ts';
import { fromBytes as scheduleOf, scheduleKeys } from '../scheduler/storedSchedules.ts';
import { fromBytes as messageOf, messageKeys } from '../sqs/storedMessages.ts';
import { endKills, killsOf } from '../store/openStore.ts';
import type { Store } from '../store/store.ts';
import type { StandIns } from './standIns.ts';

const attempt = z.object({ accountId: z.string(), messageId: z.string(), attempt: z.number() });

/** How many entries are read before other work gets a turn. */
const perTurn = 500;

async function* valuesIn(store: Store, { from, to }: { readonly from: Buffer; readonly to: Buffer }) {
  for (let next = from; ;) {
    store.refresh();
    let read = 0;
    for (const { key, value } of store.range({ from: next, to })) {
      yield value;
      next = Buffer.concat([key, Buffer.of(0)]);
      if ((read += 1) === perTurn) break;
    }
    if (read < perTurn) return;
    await setImmediate();
  }
}

async function* textsIn(store: Store): AsyncGenerator<string> {
  for await (const value of valuesIn(store, messageKeys)) yield messageOf(value).body;
  for await (const value of valuesIn(store, scheduleKeys))
    yield scheduleOf(value).settings.Target.Input ?? '';
}

export async function* knownAttempts(store: Store): AsyncGenerator<KnownAttempt> {
  for await (const text of textsIn(store)) {
    const known = attempt.safeParse(jsonOrUndefined(text)).data;
    if (known !== undefined) yield known;
  }
}

/** How often the leading process checks whether another process was killed. */
const lookEveryMs = 10_000;
/**
 * Lost messages of a killed process are looked for after this time. Then all requests from before its end are
 * answered.
 */
const settledMs = 40_000;

/**
 * Sends messages that killed processes have lost.
 *
 * @param isAlone whether no other process uses the store, so that no request is in progress
 * @returns a function that stops this
 */
export function watchForLost(
  store: Store,
  isAlone: boolean,
  report: (error: unknown) => void,
): () => Promise<void> {
  const ending = new AbortController();
  const look = async (waitMs: number): Promise<void> => {
    const kills = killsOf(store);
    if (kills === undefined || Date.now() - kills.last < waitMs) return;
    // The module reads its settings when it is loaded, so they must be set first.
    const { sendLost } = await import('../../lambdas/recovery/missing.ts');
    await sendLost(() => knownAttempts(store), kills.last, ending.signal);
    await endKills(store, kills.last);
  };
  let running: Promise<void> | undefined;
  const begin = (waitMs: number): void => {
    running ??= look(waitMs)
      .catch((error: unknown) => {
        if (!ending.signal.aborted) report(error);
      })
      .finally(() => {
        running = undefined;
      });
  };
  if (isAlone) begin(0);
  const timer = setInterval(begin, lookEveryMs, settledMs).unref();
  return async () => {
    clearInterval(timer);
    ending.abort();
    await running;
  };
}

const notice = z.object({ accountId: z.string(), scheduleId: z.string(), saveId: z.string() });

/** Looks for fires that schedules with `Svc-Catch-Up` missed while the stage was not running. */
export async function lookForMissedFires({ scheduler, sqs }: StandIns): Promise<void> {
  const time = new Date().toISOString();
  const looks = [...scheduler.inputs()].flatMap((input) => {
    const fire = notice.safeParse(jsonOrUndefined(input)).data;
    return fire === undefined ? [] : [JSON.stringify({ ...fire, time, kind: 'look' })];
  });
  await Promise.all(looks.map((text) => sqs.send('fire', text)));
}
