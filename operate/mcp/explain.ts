/** Why a message did not arrive: the message, its log, and what holds it back, in one answer. */
import * as z from 'zod/mini';
import { hostOf } from '../../lambdas/destination/place.ts';
import { askOperation, type Connection } from '../api/connection.ts';
import { OperateError } from '../operateError.ts';
import type { Values } from '../api/request.ts';
import { rowsIn } from '../api/show.ts';

const shape = z.looseObject({
  messageId: z.string(),
  state: z.string(),
  url: z.string(),
  holds: z.optional(z.array(z.unknown())),
  heldBy: z.optional(z.unknown()),
  queueName: z.optional(z.string()),
  flowControlKey: z.optional(z.string()),
  nextDeliveryTime: z.optional(z.number()),
  dlqId: z.optional(z.string()),
});
type Message = z.output<typeof shape>;

const why = (message: Message): readonly string[] => {
  const { state, nextDeliveryTime: due = 0, queueName, flowControlKey, holds = [], heldBy, dlqId } = message;
  const next = due > Date.now() ? `It is due at ${new Date(due).toISOString()}.` : 'It is due.';
  const byState: Readonly<Record<string, string>> = {
    DELIVERED: 'Its destination answered 2XX: look in the destination’s own log.',
    FAILED: `Its last attempt failed: the log has the answer. Its dead letter is ${dlqId ?? 'gone'}.`,
    CANCELED: 'Somebody withdrew it: readAudit says who.',
    RETRY: `An attempt failed: the log has the answer. ${next}`,
    CREATED: `It waits for its first attempt. ${next}`,
    ACTIVE: 'An attempt is open: its destination has yet to answer or to complete it.',
  };
  const isWaiting = state === 'CREATED' || state === 'RETRY';
  return [
    byState[state] ?? `Its state is ${state}.`,
    ...(holds.length > 0 ? ['A person holds its deliveries: see holds.'] : []),
    ...(heldBy === undefined ? [] : ['Its host is down: its circuit is open.']),
    ...(isWaiting && queueName !== undefined
      ? [`Its queue ${queueName} is delivered in order: see queue.`]
      : []),
    ...(isWaiting && flowControlKey !== undefined
      ? [`Its key ${flowControlKey} limits it: see flowControl.`]
      : []),
  ];
};

const decoded = (row: Readonly<Record<string, unknown>>) => ({
  ...row,
  ...(typeof row['responseBody'] === 'string' && {
    responseBody: Buffer.from(row['responseBody'], 'base64').toString(),
  }),
});

/**
 * @param values an id, or filters, of whose messages the newest is explained
 * @throws OperateError
 */
export async function explain(connection: Connection, values: Values): Promise<object> {
  const get = (operation: string, of: Values) => askOperation(connection, operation, of);
  const given = values.find(([name]) => name === 'messageId')?.[1];
  const list =
    given === undefined ? await get('listMessages', [['state', 'ALL'], ['count', 1], ...values]) : undefined;
  const id = given ?? rowsIn(list, 'messages')[0]?.['messageId'];
  if (id === undefined)
    throw new OperateError(
      'No message matches. The publish may have been refused or been a duplicate, or the message is in another account or no longer kept.',
    );
  const message = shape.parse(
    await get('getMessage', [
      ['messageId', id],
      ['state', 'ALL'],
    ]),
  );
  const { queueName, flowControlKey, heldBy } = message;
  const host = hostOf(message.url);
  const [log, queue, flowControl, hostTimes, globalParallelism] = await Promise.all([
    get('listLogs', [['messageIds', id]]),
    queueName === undefined ? undefined : get('getQueue', [['name', queueName]]),
    flowControlKey === undefined ? undefined : get('getFlowControl', [['key', flowControlKey]]),
    message.state === 'DELIVERED' ? undefined : get('getHostTimes', [['host', host]]),
    heldBy === undefined && message.state === 'CREATED' ? get('getGlobalParallelism', []) : undefined,
  ]);
  return {
    why: why(message),
    message,
    log: rowsIn(log, 'logs').map(decoded),
    queue,
    flowControl,
    hostTimes,
    globalParallelism,
  };
}
