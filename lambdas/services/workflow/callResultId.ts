import { derivedId } from '../../domain/ids.ts';
import type { MessageHistory } from '../../stores/message/history.ts';
import { dueTimeOf } from '../delivery/history.ts';

/**
 * Makes the id of the message that brings the answer to a call to the endpoint: derived from the last attempt of the call, so
 * that it is one message however often the attempt is repeated.
 *
 * @param attempt the number of that attempt
 */
export const callResultId = (history: MessageHistory, attempt: number): string =>
  derivedId('msg', dueTimeOf(history, attempt), `${history.message.messageId}/${attempt}/callResult`);
