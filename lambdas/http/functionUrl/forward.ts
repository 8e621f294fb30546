/** Forwards requests that this function does not answer to the API. */
import { request as overHttp, type IncomingMessage } from 'node:http';
import { request as overHttps } from 'node:https';
import { buffer } from 'node:stream/consumers';
import { isGatewayHeader, isOwnHeader } from '../../request/forwarding.ts';
import { encodingOf } from '../../wire/answerSize.ts';
import type { ApiRequest, Result } from '../request.ts';
import { sealed, senderHeader } from './sender.ts';

/**
 * Sends a request to the API, and returns its answer.
 *
 * @param apiUrl without a slash at the end
 * @param query as it was sent
 * @throws Error if there is no answer in time
 */
export async function forward(
  { method, rawPath, headers, body, callerIp }: ApiRequest,
  apiUrl: string,
  query: string,
  timeoutMs: number,
): Promise<Result> {
  const { protocol, host, pathname } = new URL(apiUrl);
  const sent = headers.filter(([name]) => !isOwnHeader(name) && !isGatewayHeader(name));
  const outgoing = (protocol === 'http:' ? overHttp : overHttps)(`${protocol}//${host}`, {
    method,
    // Not parsed by `URL`, which would resolve dots, even in a destination.
    path: `${pathname.replace(/\/$/, '')}${rawPath}${query === '' ? '' : `?${query}`}`,
    headers: [
      ...[...sent, [senderHeader, await sealed(callerIp)] as const].flat(),
      ...['host', host, 'content-length', String(body.length)],
    ],
    signal: AbortSignal.timeout(timeoutMs),
  });
  outgoing.end(body);
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    outgoing.on('response', resolve).on('error', reject);
  });
  return resultOf(answer, await buffer(answer));
}

function resultOf({ statusCode = 502, headers }: IncomingMessage, bytes: Buffer): Result {
  const kept = Object.entries(headers).filter(
    ([name]) => !isOwnHeader(name) && !isGatewayHeader(name) && name !== 'date',
  );
  const text = bytes.toString();
  const isText = Buffer.from(text).equals(bytes) && !encodingOf(text).isBase64;
  return {
    statusCode,
    headers: Object.fromEntries(kept.map(([name, value]) => [name, String(value)])),
    ...(isText ? { body: text } : { body: bytes.toString('base64'), isBase64Encoded: true }),
  };
}
