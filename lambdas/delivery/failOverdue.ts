import { rulesOf } from '../circuit/settings.ts';
import { now, secondMs } from '../shared/clock.ts';
import { finishAttempt, type LoadedMessage } from './finishAttempt.ts';

/** Fails a message that has waited too long for its host, without a request or a retry. */
export async function failOverdue({ history, account, body }: LoadedMessage, number: number): Promise<void> {
  const time = now();
  const waitedSeconds = rulesOf(account.circuit).longestWaitMs / secondMs;
  const error = `The destination has been down, and this attempt has waited for more than ${waitedSeconds} s; no request was made.`;
  await finishAttempt(
    { history, account, body },
    {
      number,
      startedAt: time,
      recordedAt: time,
      response: { status: 0, error, headers: [], body: new Uint8Array() },
      outcome: { state: 'FAILED' },
    },
  );
}
