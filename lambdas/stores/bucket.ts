/**
 * The bucket of large bodies. The S3 client is larger than a handler, so this file is imported dynamically only, and
 * takes the bucket's name rather than read the settings: `lib/bundle.ts` makes it a bundle of its own.
 */
import {
  DeleteObjectCommand,
  GetObjectCommand,
  PutObjectCommand,
  S3Client,
  type GetObjectCommandOutput,
} from '@aws-sdk/client-s3';

export interface Bucket {
  readonly put: (key: string, body: Uint8Array) => Promise<unknown>;
  readonly get: (key: string) => Promise<Pick<GetObjectCommandOutput, 'Body'>>;
  /** Deletes an object, if it is there. */
  readonly delete: (key: string) => Promise<unknown>;
}

export function openBucket(name: string): Bucket {
  const s3 = new S3Client({
    forcePathStyle: true,
    requestHandler: { connectionTimeout: 1_000, requestTimeout: 10_000 },
  });
  const at = (key: string) => ({ Bucket: name, Key: key });
  return {
    put: (key, body) => s3.send(new PutObjectCommand({ ...at(key), Body: body })),
    get: (key) => s3.send(new GetObjectCommand(at(key))),
    delete: (key) => s3.send(new DeleteObjectCommand(at(key))),
  };
}
