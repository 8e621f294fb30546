/** Amazon S3 for the local stage: one bucket, addressed in path style, and what a store of bodies needs of it. */
import { createHash, randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { crc32 } from 'node:zlib';
import { unchunk } from './awsChunked.ts';
import { close, listen, readBody } from './http.ts';
import type { Objects, StoredObject } from './objects.ts';

export interface S3 {
  readonly url: string;
  readonly close: () => Promise<void>;
}

export interface S3Options {
  readonly bucket: string;
  readonly objects: Objects;
  /** Epoch milliseconds. */
  readonly now: () => number;
  readonly report: (error: unknown) => void;
}

export async function startS3({ bucket, objects, now, report }: S3Options): Promise<S3> {
  const { server, url } = await listen((request, response) => {
    answer(request, response).catch((error: unknown) => {
      if (error instanceof S3Error) {
        refuse(response, error);
        return;
      }
      report(error);
      if (response.headersSent) response.destroy();
      else refuse(response, new S3Error(500, 'InternalError', 'The object store failed.'));
    });
  });

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    response.setHeader('x-amz-request-id', randomUUID());
    const key = keyOf(request.url ?? '/', bucket);
    const method = request.method ?? '';
    switch (method) {
      case 'PUT': {
        const body = await receiveObject(request);
        const contentType = request.headers['content-type'] ?? 'application/octet-stream';
        await objects.put(key, { body, contentType, modifiedAt: now() });
        response.writeHead(200, { etag: etag(body), 'content-length': 0 }).end();
        return;
      }
      case 'GET':
      case 'HEAD': {
        const object = await objects.get(key);
        if (object === undefined) throw new S3Error(404, 'NoSuchKey', 'The specified key does not exist.');
        response.writeHead(200, headersOf(object, request.headers['x-amz-checksum-mode'] === 'ENABLED'));
        response.end(method === 'GET' ? object.body : undefined);
        return;
      }
      case 'DELETE':
        await objects.delete(key);
        response.writeHead(204).end();
        return;
      default:
        throw new S3Error(501, 'NotImplemented', `The local stage has no operation for ${method}.`);
    }
  }

  return { url, close: () => close(server) };
}

/** A refusal in S3's own words: `code` is the exception's name in the SDK. */
class S3Error extends Error {
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

function refuse(response: ServerResponse, { status, code, message }: S3Error): void {
  const xml = `<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>${code}</Code><Message>${message}</Message></Error>`;
  response.writeHead(status, { 'content-type': 'application/xml', 'content-length': Buffer.byteLength(xml) });
  response.end(xml);
}

/** The object's key in a path-style URL: `/<bucket>/<key>`. */
function keyOf(url: string, bucket: string): string {
  const [path = ''] = url.split('?');
  const [, first = '', ...rest] = path.split('/').map(decodeURIComponent);
  if (first !== bucket) throw new S3Error(404, 'NoSuchBucket', 'The specified bucket does not exist.');
  const key = rest.join('/');
  if (key === '')
    throw new S3Error(501, 'NotImplemented', 'The local stage has no operations on a whole bucket.');
  if (encodeURIComponent(key).length > 200) {
    throw new S3Error(400, 'KeyTooLongError', 'The local stage takes keys of up to 200 bytes.');
  }
  return key;
}

/** Reads an object's bytes out of the encoding they came in, and checks them. */
async function receiveObject(request: IncomingMessage): Promise<Buffer> {
  const bytes = (await readBody(request)) ?? Buffer.alloc(0);
  const isChunked = request.headers['x-amz-content-sha256']?.toString().startsWith('STREAMING-') ?? false;
  const sent = isChunked ? unchunk(bytes) : { body: bytes, trailers: new Map<string, string>() };
  if (sent === undefined) throw new S3Error(400, 'IncompleteBody', 'The body is not whole chunks.');
  const length = request.headers['x-amz-decoded-content-length'];
  if (length !== undefined && Number(length) !== sent.body.length) {
    throw new S3Error(400, 'IncompleteBody', 'The body has not the length that was announced.');
  }
  const checksum = request.headers[crcHeader] ?? sent.trailers.get(crcHeader);
  if (checksum !== undefined && checksum !== checksumOf(sent.body)) {
    throw new S3Error(400, 'BadDigest', 'The CRC32 you specified did not match the calculated checksum.');
  }
  return sent.body;
}

const crcHeader = 'x-amz-checksum-crc32';

/** CRC-32, big-endian, base64. */
function checksumOf(body: Buffer): string {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(crc32(body));
  return bytes.toString('base64');
}

function etag(body: Buffer): string {
  return `"${createHash('md5').update(body).digest('hex')}"`;
}

function headersOf(
  { body, contentType, modifiedAt }: StoredObject,
  withChecksum: boolean,
): Record<string, string | number> {
  return {
    etag: etag(body),
    'content-type': contentType,
    'content-length': body.length,
    'last-modified': new Date(modifiedAt).toUTCString(),
    ...(withChecksum && { [crcHeader]: checksumOf(body) }),
  };
}
