/**
 * The bucket of large bodies. `lib/bundle.ts` bundles it separately, because the S3 client is larger than a
 * handler. The bucket's name and the preparation of clients are arguments, so that this bundle has no second
 * copy of settings and metrics.
 */
import { DeleteObjectCommand, GetObjectCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { clientOptions } from '../../aws/clientOptions.ts';
import type { prepareClient } from '../../aws/functionClient.ts';

export interface BodyBucket {
  readonly put: (key: string, body: Uint8Array) => Promise<void>;
  /** @throws if the object does not exist */
  readonly get: (key: string) => Promise<Uint8Array>;
  readonly delete: (key: string) => Promise<void>;
}

export function openBucket(name: string, prepare: typeof prepareClient): BodyBucket {
  // Each read adds a step to its command, so the client must not reuse the steps of another.
  const s3 = prepare(
    'S3',
    new S3Client({ ...clientOptions('bodies'), cacheMiddleware: false, forcePathStyle: true }),
  );
  const at = (key: string) => ({ Bucket: name, Key: key });

  /** Reads a whole object within one try, so that an interrupted read is retried. */
  async function read(key: string): Promise<Uint8Array> {
    let content: Uint8Array | undefined;
    const command = new GetObjectCommand(at(key));
    command.middlewareStack.add(
      (next) => async (args) => {
        const result = await next(args);
        content = await result.output?.Body?.transformToByteArray();
        return result;
      },
      // The first step that gets the answer. It is part of each try, so that it is retried.
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
