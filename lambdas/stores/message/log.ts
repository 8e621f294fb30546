/** Reads the log: what was recorded of messages, the latest record first. */
import * as z from 'zod/mini';
import { timeOfId } from '../../domain/ids.ts';
import type { LogSubject } from '../../domain/log/logSubject.ts';
import type { Attempt } from '../../domain/message/message.ts';
import { settings } from '../../settings.ts';
import { queryRows, type Row } from '../dynamodb.ts';
import { byAge, inOrder, isBehind, rowsPerRead, type Ordered, type Range } from '../shards.ts';
import { endIn, loadMessageRows } from './history.ts';
import type { LoggedMessage } from './list.ts';
import { attemptOf, isAttempt, ownMessageOf, subjectOf } from './rows.ts';

/** A row of the log: an attempt, or a withdrawal. */
export interface LogRow extends Ordered {
  readonly subject: LogSubject;
  /** Undefined for a withdrawal. */
  readonly attempt: Attempt | undefined;
}

const orderedRow = z.object({ id: z.string(), recordedAt: z.number() });

function logRowOf(row: Row): LogRow {
  const { id, recordedAt } = orderedRow.parse(row);
  return {
    id,
    time: recordedAt,
    subject: subjectOf(row),
    attempt: isAttempt(row) ? attemptOf(row) : undefined,
  };
}

async function* logRows(rows: AsyncIterable<Row>): AsyncGenerator<LogRow> {
  for await (const row of rows) yield logRowOf(row);
}

/** Lists what was recorded of one shard's messages, the latest record first. */
export async function* listLog(shard: string, range: Range): AsyncGenerator<LogRow> {
  const latest = Math.min(
    range.toDate ?? Number.MAX_SAFE_INTEGER,
    range.behind?.time ?? Number.MAX_SAFE_INTEGER,
  );
  const rows = queryRows({
    TableName: settings.messagesTable,
    IndexName: 'log',
    KeyConditionExpression: '#shard = :shard AND #recordedAt BETWEEN :first AND :last',
    ExpressionAttributeNames: { '#shard': 'shard', '#recordedAt': 'recordedAt' },
    ExpressionAttributeValues: {
      ':shard': { S: shard },
      ':first': { N: String(range.fromDate ?? 0) },
      ':last': { N: String(latest) },
    },
    ScanIndexForward: false,
    Limit: rowsPerRead,
  });
  for await (const row of inOrder(logRows(rows))) {
    if (isBehind(row, range.behind)) yield row;
  }
}

/** Lists what was recorded of one message, and the message itself as the oldest. */
export async function* listHistory(
  accountId: string,
  messageId: string,
  range: Range,
): AsyncGenerator<LogRow | LoggedMessage> {
  const rows = await loadMessageRows({ accountId, messageId });
  if (rows === undefined) return;
  const message = ownMessageOf(rows.own);
  const logged = { message, end: endIn(rows), id: messageId, time: timeOfId(messageId) };
  const records = rows.following.filter((row) => 'recordedAt' in row).map(logRowOf);
  for (const row of [...records, logged].sort(byAge)) {
    if (isBehind(row, range.behind)) yield row;
  }
}
