/**
 * The stand-in for Amazon S3: one bucket with path-style URLs, and the operations that the storage of bodies
 * needs.
 */
import { createHash, randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { crc32 } from 'node:zlib';
import { AwsError } from '../aws/awsError.ts';
import { startAwsServer, type AwsServer } from '../aws/server.ts';
import { readBody } from '../http.ts';
import type { Objects, StoredObject } from './objects.ts';

interface S3Options {
  readonly bucket: string;
  readonly objects: Objects;
  readonly now: () => number;
  readonly report: (error: unknown) => void;
}

export async function startS3({ bucket, objects, now, report }: S3Options): Promise<AwsServer> {
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
        const object = objects.get(key);
        if (object === undefined) throw new AwsError('NoSuchKey', 'The specified key does not exist.', 404);
        response.writeHead(200, headersOf(object, request.headers['x-amz-checksum-mode'] === 'ENABLED'));
        response.end(method === 'GET' ? object.body : undefined);
        return;
      }
      case 'DELETE':
        await objects.delete(key);
        response.writeHead(204).end();
        return;
      default:
        throw new AwsError('NotImplemented', `The local stage has no operation for ${method}.`, 501);
    }
  }

  return startAwsServer({ answer, refuse, failureCode: 'InternalError', report });
}

function refuse(response: ServerResponse, { status, code, message }: AwsError): void {
  const xml = `<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>${code}</Code><Message>${message}</Message></Error>`;
  response.writeHead(status, { 'content-type': 'application/xml', 'content-length': Buffer.byteLength(xml) });
  response.end(xml);
}

/** The limit in "Object key names", S3's user guide. */
const longestKeyBytes = 1_024;

function keyOf(url: string, bucket: string): string {
  const [path = ''] = url.split('?');
  const [, first = '', ...rest] = path.split('/').map(decodeURIComponent);
  if (first !== bucket) throw new AwsError('NoSuchBucket', 'The specified bucket does not exist.', 404);
  const key = rest.join('/');
  if (key === '') {
    throw new AwsError('NotImplemented', 'The local stage has no operations on a whole bucket.', 501);
  }
  if (Buffer.byteLength(key) > longestKeyBytes) {
    throw new AwsError('KeyTooLongError', 'Your key is too long.');
  }
  return key;
}

/** Reads an object's bytes, and checks the SDK's checksum. */
async function receiveObject(request: IncomingMessage): Promise<Buffer> {
  // Not supported: the SDK uses this encoding only for streams, which the service does not send.
  if (request.headers['content-encoding']?.includes('aws-chunked') === true) {
    throw new AwsError('NotImplemented', 'The local stage takes no aws-chunked bodies.', 501);
  }
  const body = await readBody(request);
  const checksum = request.headers[crcHeader];
  if (checksum !== undefined && checksum !== checksumOf(body)) {
    throw new AwsError('BadDigest', 'The CRC32 you specified did not match the calculated checksum.');
  }
  return body;
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
