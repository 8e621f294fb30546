/** Messages that no queue, schedule or line has. A kill in the middle of an enqueue leaves one: its row is written before its place. */
import * as z from 'zod/mini';
import type { KnownAttempt } from '../../lambdas/recovery/missing.ts';
import { jsonOrUndefined } from '../json.ts';
import { storedSchedules } from '../scheduler/storedSchedules.ts';
import { storedMessages } from '../sqs/storedMessages.ts';
import { killedAtOf, noteKill } from '../store/openStore.ts';
import type { Store } from '../store/store.ts';

const attempt = z.object({ accountId: z.string(), messageId: z.string(), attempt: z.number() });

export function knownAttempts(store: Store): readonly KnownAttempt[] {
  const texts = [
    ...[...storedMessages(store)].map(({ body }) => body),
    ...[...storedSchedules(store)].flatMap(({ settings: { Target } }) => Target.Input),
  ];
  return texts.flatMap((text) => attempt.safeParse(jsonOrUndefined(text)).data ?? []);
}

/** Sends such messages after a kill. Nothing may be written at the same time. */
export async function sendLostMessages(store: Store): Promise<void> {
  if (killedAtOf(store) === undefined) return;
  // The module reads its settings when it is loaded, so they must be set first.
  const { sendLost } = await import('../../lambdas/recovery/missing.ts');
  await sendLost(knownAttempts(store));
  await noteKill(store, undefined);
}
