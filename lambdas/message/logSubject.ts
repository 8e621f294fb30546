import type { Method } from '../value/method.ts';
import type { Message, Origin } from './message.ts';
import { shownUrl } from '../shared/urlCredentials.ts';

/** The part of a message that the rows of its attempts and its end repeat: all that the log is filtered by. */
export interface LogSubject extends Origin {
  readonly messageId: string;
  /** Without `user:password`. */
  readonly url: string;
  readonly method: Method;
  readonly labels: readonly string[];
  readonly callerIp: string;
  readonly flowControlKey?: string | undefined;
  /** The id of the message that this one was made from. */
  readonly retriedFrom?: string | undefined;
  /** Whether the message tells of an alarm of its account. */
  readonly isAlarm?: true | undefined;
  /** Unix milliseconds. */
  readonly createdAt: number;
}

export const logSubjectOf = (message: Message): LogSubject => ({
  messageId: message.messageId,
  url: shownUrl(message.url),
  method: message.method,
  topicName: message.topicName,
  endpointName: message.endpointName,
  queueName: message.queueName,
  scheduleId: message.scheduleId,
  labels: message.labels,
  callerIp: message.callerIp,
  flowControlKey: message.flowControl?.key,
  retriedFrom: message.retriedFrom,
  isAlarm: message.isAlarm,
  createdAt: message.createdAt,
});
