import type { LogSubject, Message } from './message.ts';
import { shownUrl, shownWebhook } from '../shared/urlCredentials.ts';

/** Only the origin of an alarm's URL is shown: alarms go to webhooks, whose path may be a key. */
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
