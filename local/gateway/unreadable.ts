/** Limits of a request's head, and answers to requests that Node cannot parse. */
import type { Duplex } from 'node:stream';
import type { ErrorCode } from '../../lambdas/error/errorCodes.ts';

/** 10 KiB: API Gateway's "Total combined size of request line and header values". */
export const maxHeadBytes = 10_240;
export const headTooLarge = `The request line and headers together exceed ${maxHeadBytes} bytes.`;

/**
 * The largest head that Node reads, in bytes. It is above the gateway's limit, so that the gateway refuses
 * larger heads, not Node.
 */
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

/**
 * Answers a request whose head is too large for Node, or that is not HTTP, such as a path with an unencoded
 * `ü`.
 */
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
