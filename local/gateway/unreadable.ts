/** The bounds of a request's head, and the answers to bytes of which Node makes no request object. */
import type { Duplex } from 'node:stream';
import type { ErrorCode } from '../../lambdas/error/errorCodes.ts';

/** API Gateway's "Total combined size of request line and header values": 10 KiB. */
export const maxHeadBytes = 10_240;
export const headTooLarge = `The request line and headers together exceed ${maxHeadBytes} bytes.`;

/** Bytes of a head that Node reads: more than the gateway's limit, so that the gateway answers and not Node. */
export const mostReadBytes = 65_536;

const answers = {
  tooLarge: {
    status: '431 Request Header Fields Too Large',
    code: 'head_too_large',
    error: headTooLarge,
  },
  malformed: {
    status: '400 Bad Request',
    code: 'request_malformed',
    error: 'The request cannot be read as HTTP; a path must be percent-encoded.',
  },
} as const satisfies Record<string, { status: string; code: ErrorCode; error: string }>;

/** Answers a head that is larger than Node reads, or bytes that are not HTTP, such as a path with a space or a bare `ü`. */
export function refuseUnreadable(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  const {
    status,
    error: sentence,
    code,
  } = error.code === 'HPE_HEADER_OVERFLOW' ? answers.tooLarge : answers.malformed;
  const text = JSON.stringify({ error: sentence, code });
  socket.end(
    `HTTP/1.1 ${status}\r\nContent-Type: application/json\r\nContent-Length: ${text.length}\r\nConnection: close\r\n\r\n${text}`,
  );
}
