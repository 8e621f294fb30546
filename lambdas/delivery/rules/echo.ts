import { targetOf } from '../../destination/destination.ts';
import type { DestinationResponse } from '../../destination/response.ts';
import type { Message } from '../../message/message.ts';
import { requestRecord } from '../../message/records.ts';

/**
 * Answers a request to the echo with the request itself as JSON. The status is 200, or that in the path
 * `/status/503`, from 200 to 599. Redacted parts are hidden, because the log stores the answer.
 */
export function echoed(
  { url, redaction }: Pick<Message, 'url' | 'redaction'>,
  request: Parameters<typeof requestRecord>[0],
): DestinationResponse {
  const status = Number(/^\/status\/([2-5]\d\d)(?=[/?]|$)/.exec(targetOf(url).path)?.[1] ?? 200);
  return {
    status,
    headers: [['content-type', 'application/json']],
    body: Buffer.from(JSON.stringify({ url, ...requestRecord(request, redaction) })),
  };
}
