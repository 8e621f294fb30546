import { targetOf } from '../../destination/destination.ts';
import type { DestinationResponse } from '../../destination/response.ts';
import { shownHeaders, type Header } from '../../shared/headers.ts';
import type { Message } from '../../message/message.ts';
import { bodyRecord } from '../../message/records.ts';
import { noRedaction, redactHeaders } from '../../message/redaction.ts';

interface Request {
  readonly method: string;
  readonly headers: readonly Header[];
  readonly body: Uint8Array;
}

/**
 * Answers a request to the echo with the request itself as JSON. The status is 200, or that in the path
 * `/status/503`, from 200 to 599. Redacted parts are hidden, because the log stores the answer.
 */
export function echoed(
  { url, redaction = noRedaction }: Pick<Message, 'url' | 'redaction'>,
  { method, headers, body }: Request,
): DestinationResponse {
  const status = Number(/^\/status\/([2-5]\d\d)(?=[/?]|$)/.exec(targetOf(url).path)?.[1] ?? 200);
  const shown = shownHeaders(redactHeaders(headers, redaction));
  const seen = { method, url, headers: shown, ...bodyRecord(body, redaction) };
  return {
    status,
    headers: [['content-type', 'application/json']],
    body: Buffer.from(JSON.stringify(seen)),
  };
}
