/** Prepares messages to be sent: an ordinary one as it is stored, a run's as the workflow makes it. */
import type { Account } from '../account/account.ts';
import { count } from '../aws/metrics.ts';
import type { MessageHistory } from '../message/history.ts';
import { kindOf, type OpenedDelivery } from '../message/kinds.ts';
import { endMessage } from '../message/messages.ts';
import { now } from '../shared/clock.ts';
import type { LoadedMessage } from './finishAttempt.ts';

export interface ReadyMessage extends LoadedMessage {
  readonly request: OpenedDelivery;
}

const nothing = (): undefined => undefined;

/**
 * @returns undefined if the workflow drops the message; `later` if there is not enough memory for its body
 * now
 */
export async function readyToSend(loaded: LoadedMessage): Promise<ReadyMessage | 'later' | undefined> {
  const { message } = loaded.history;
  const own = await kindOf(message);
  if (own === undefined) {
    return { ...loaded, request: { message, body: loaded.body, errorOf: nothing, release: nothing } };
  }
  const request = await own.kind.open(message, own.part, loaded.body);
  return typeof request === 'object' ? { ...loaded, request } : request;
}

/** Cancels a message that the workflow drops, and does what the workflow requires then. */
export async function dropMessage({ message }: MessageHistory, account: Account): Promise<void> {
  const own = await kindOf(message);
  await own?.kind.drop(message, own.part, account);
  if (await endMessage(message, 'CANCELED', now())) count('Cancelled');
}
