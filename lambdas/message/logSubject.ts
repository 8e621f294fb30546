import type { Method } from '../value/method.ts';
import type { Message, Origin } from './message.ts';
import { shownUrl, shownWebhook } from '../shared/urlCredentials.ts';

/** The fields that a message's other rows repeat, to filter the log. */
export interface LogSubject extends Origin {
  readonly messageId: string;
  /** Without `user:password`. */
  readonly url: string;
  readonly method: Method;
  readonly labels: readonly string[];
  readonly callerIp: string;
  readonly flowControlKey?: string | undefined;
  readonly retriedFrom?: string | undefined;
  readonly isAlarm?: true | undefined;
  /** Unix milliseconds. */
  readonly createdAt: number;
}

/** Alarms go to webhooks. */
export const shownUrlOf = ({ url, isAlarm }: Pick<Message, 'url' | 'isAlarm'>): string =>
  isAlarm === true ? shownWebhook(url) : shownUrl(url);

export const logSubjectOf = (message: Message): LogSubject => ({
  messageId: message.messageId,
  url: shownUrlOf(message),
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
