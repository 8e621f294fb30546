/**
 * The file format of a standby: a line of JSON, pages of a store in gzip, and the SHA-256 of both. A chain of
 * files begins with one that has all pages (number 0). Each further file has the pages that changed after the
 * one before.
 */
import { createHash } from 'node:crypto';
import {
  closeSync,
  createReadStream,
  existsSync,
  fsyncSync,
  openSync,
  readdirSync,
  readSync,
  statSync,
} from 'node:fs';
import { open } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import * as z from 'zod/mini';
import { writeAll } from '../durable.ts';
import { jsonOrUndefined } from '../json.ts';
import { StageError } from '../stage/stageError.ts';
import { metaPagesOf } from '../store/metas.ts';
import { countOf, headerBytes, longAt } from '../store/pageFile.ts';
import { masterSecretName } from './files.ts';

const head = z.object({
  format: z.literal(1),
  version: z.string(),
  /** ISO 8601. */
  madeAt: z.string(),
  chain: z.int(),
  number: z.int(),
  /** The checksum of the previous file. */
  previous: z.optional(z.string()),
  /** The store's id, and the number of its last transaction. */
  store: z.string(),
  transaction: z.int(),
  pageBytes: z.int(),
  /** The store's meta page, as base64. */
  meta: z.string(),
  secrets: z.record(z.string(), z.string()),
});
type Head = Readonly<z.infer<typeof head>>;

export interface Changes extends Head {
  /** As base64. */
  readonly digest: string;
}

/** Whether two files are of the same stage. */
export const isOfSame = (one: Head['secrets'], other: Head['secrets']): boolean =>
  one[masterSecretName] === other[masterSecretName];

const form = /^(\d{9})-(\d{6})\.changes$/;

export const nameOf = ({ chain, number }: Pick<Head, 'chain' | 'number'>): string =>
  `${String(chain).padStart(9, '0')}-${String(number).padStart(6, '0')}.changes`;

/** Lists the files of a folder, in order. */
export const placesIn = (folder: string) =>
  (existsSync(folder) ? readdirSync(folder) : []).toSorted().flatMap((name) => {
    const [, chain, number] = form.exec(name) ?? [];
    return chain === undefined ? [] : [{ name, chain: Number(chain), number: Number(number) }];
  });

const digestBytes = 32;

/** Writes a file, and flushes it to the disk. */
export async function writeChanges(path: string, of: Head, pages: AsyncIterable<Buffer>): Promise<Changes> {
  const hash = createHash('sha256');
  let digest = '';
  await pipeline(
    pages,
    createGzip({ level: 1 }),
    async function* (chunks: AsyncIterable<Buffer>) {
      const first = Buffer.from(`${JSON.stringify(of)}\n`);
      hash.update(first);
      yield first;
      for await (const chunk of chunks) {
        hash.update(chunk);
        yield chunk;
      }
      const last = hash.digest();
      digest = last.toString('base64');
      yield last;
    },
    (await open(path, 'w', 0o600)).createWriteStream({ flush: true }),
  );
  return { ...of, digest };
}

/** Copies a file, and flushes it to the disk. @throws StageError if it is damaged */
export async function copyChanges(from: string, to: string): Promise<void> {
  const hash = createHash('sha256');
  let end = Buffer.alloc(0);
  await pipeline(
    createReadStream(from),
    async function* (chunks: AsyncIterable<Buffer>) {
      for await (const chunk of chunks) {
        yield chunk;
        end = Buffer.concat([end, chunk]);
        hash.update(end.subarray(0, -digestBytes));
        end = end.subarray(-digestBytes);
      }
    },
    (await open(to, 'w', 0o600)).createWriteStream({ flush: true }),
  );
  if (!hash.digest().equals(end)) throw new StageError(`${from} is damaged or not whole.`);
}

const longestHead = 10_000;

/** Reads the first line of a file. @throws StageError if a later release wrote it */
export function changesIn(path: string): Changes & { readonly start: number; readonly end: number } {
  const end = statSync(path).size - digestBytes;
  const file = openSync(path, 'r');
  try {
    const [first, last] = [Buffer.alloc(longestHead), Buffer.alloc(digestBytes)];
    readSync(file, first, 0, longestHead, 0);
    readSync(file, last, 0, digestBytes, Math.max(0, end));
    const start = first.indexOf('\n') + 1;
    const { data } = head.safeParse(jsonOrUndefined(first.toString('utf8', 0, start)));
    if (data === undefined) throw new StageError(`${path} is from a later version of the service.`);
    return { ...data, digest: last.toString('base64'), start, end };
  } finally {
    closeSync(file);
  }
}

/** Writes the pages of a file to a store that no process uses. If this is interrupted, it can be repeated. */
export async function applyChanges(path: string, store: string): Promise<void> {
  const { pageBytes, meta, start, end } = changesIn(path);
  const file = openSync(store, 'r+');
  try {
    let rest = Buffer.alloc(0);
    await pipeline(
      createReadStream(path, { start, end: end - 1 }),
      createGunzip({ chunkSize: 2 ** 18 }),
      async (chunks: AsyncIterable<Buffer>) => {
        for await (const chunk of chunks) {
          rest = Buffer.concat([rest, chunk]);
          while (rest.length >= headerBytes && rest.length >= countOf(rest) * pageBytes) {
            const length = countOf(rest) * pageBytes;
            writeAll(file, rest.subarray(0, length), longAt(rest, 0) * pageBytes);
            rest = rest.subarray(length);
          }
        }
      },
    );
    fsyncSync(file);
    for (const [page, bytes] of metaPagesOf(Buffer.from(meta, 'base64')))
      writeAll(file, bytes, page * pageBytes);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
