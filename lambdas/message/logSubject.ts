import type { Method } from '../value/method.ts';
import type { Message, Origin } from './message.ts';
import { shownUrl } from '../shared/urlCredentials.ts';

/** The fields of a message that its other rows repeat, so that the log can be filtered by them. */
export interface LogSubject extends Origin {
  readonly messageId: string;
  /** Without `user:password`. */
  readonly url: string;
  readonly method: Method;
  readonly labels: readonly string[];
  readonly callerIp: string;
  readonly flowControlKey?: string | undefined;
  /** The message that it was made from. */
  readonly retriedFrom?: string | undefined;
  /** Whether it reports an alarm of its account. */
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
