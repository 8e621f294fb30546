/**
 * The bucket of large bodies. The S3 client is larger than a handler, so this file is only imported when it is needed.
 * `lib/bundle.ts` makes a bundle of its own of it; so that the settings and the metrics are not in both, the bucket's name and the
 * middleware that counts its failures are passed in.
 */
import { DeleteObjectCommand, GetObjectCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import type { countFailures } from '../../aws/failures.ts';
import { clientOptions } from '../../aws/clientOptions.ts';

export interface BodyBucket {
  readonly put: (key: string, body: Uint8Array) => Promise<void>;
  /** @throws when there is no such object */
  readonly get: (key: string) => Promise<Uint8Array>;
  /** Deletes an object, if it is there. */
  readonly delete: (key: string) => Promise<void>;
}

export function openBucket(name: string, counting: typeof countFailures): BodyBucket {
  const s3 = new S3Client({ ...clientOptions('bodies'), forcePathStyle: true });
  s3.middlewareStack.use(counting('S3'));
  const at = (key: string) => ({ Bucket: name, Key: key });

  /** Reads a whole object within one try of the client, so that an object that stops halfway is asked for again. */
  async function read(key: string): Promise<Uint8Array> {
    let content: Uint8Array | undefined;
    const command = new GetObjectCommand(at(key));
    command.middlewareStack.add(
      (next) => async (args) => {
        const result = await next(args);
        content = await result.output?.Body?.transformToByteArray();
        return result;
      },
      // The first of the steps that handle an answer; the client's tries are around all of them.
      { name: 'readWhole', step: 'deserialize', priority: 'high' },
    );
    await s3.send(command);
    if (content === undefined) throw new Error(`The body ${key} has no content.`);
    return content;
  }

  return {
    put: async (key, body) => {
      await s3.send(new PutObjectCommand({ ...at(key), Body: body }));
    },
    get: read,
    delete: async (key) => {
      await s3.send(new DeleteObjectCommand(at(key)));
    },
  };
}
