/** The file format of a backup: a gzipped tar archive of a description, the secrets, and the store's contents in parts. */
import { pipeline } from 'node:stream/promises';
import type { Readable, Writable } from 'node:stream';
import { createGunzip, createGzip } from 'node:zlib';
import { extract, pack } from 'tar-stream';
import * as z from 'zod/mini';
import manifest from '../../package.json' with { type: 'json' };
import { jsonOrUndefined } from '../json.ts';
import { StageError, isSystemError } from '../stage/stageError.ts';

const descriptionName = 'backup.json';
const description = z.object({
  format: z.literal(2),
  version: z.string(),
  madeAt: z.string(),
});
export type Description = z.infer<typeof description>;

/** The last file of an archive. Without it a backup is incomplete. */
const endName = 'end.json';
const end = z.object({ lines: z.number() });

interface Backup {
  readonly secrets: Readonly<Record<string, string>>;
  readonly lines: Iterable<string>;
}

/** The fastest level: it already shrinks rows to a third. */
const compression = { level: 1 };
const mode = 0o600;
const partLength = 1_000_000;

const partName = (number: number): string => `contents/${String(number).padStart(6, '0')}.jsonl`;
const isPart = (name: string): boolean => /^contents\/\d{6,}\.jsonl$/.test(name);

/**
 * Writes a backup to a stream, and ends the stream.
 *
 * @returns the number of lines
 */
export async function writeArchive({ secrets, lines }: Backup, to: Writable): Promise<number> {
  const archive = pack();
  const about: Description = { format: 2, version: manifest.version, madeAt: new Date().toISOString() };
  const add = (name: string, text: string): Promise<void> => {
    const bytes = Buffer.from(text);
    return new Promise((resolve, reject) => {
      const entry = archive.entry({ name, mode, size: bytes.length }, (error) => {
        if (error) reject(error);
        else resolve();
      });
      entry.end(bytes);
    });
  };
  const written = pipeline(archive, createGzip(compression), to);
  const adding = (async () => {
    await add(descriptionName, `${JSON.stringify(about)}\n`);
    for (const [name, text] of Object.entries(secrets)) await add(name, text);
    let [parts, count, part] = [0, 0, ''];
    for (const line of lines) {
      count += 1;
      part += line;
      if (part.length < partLength) continue;
      await add(partName((parts += 1)), part);
      part = '';
    }
    if (part !== '') await add(partName((parts += 1)), part);
    await add(endName, `${JSON.stringify({ lines: count })}\n`);
    archive.finalize();
    return count;
  })();
  try {
    const [count] = await Promise.all([adding, written]);
    return count;
  } catch (error) {
    archive.destroy();
    throw error;
  }
}

interface Taker {
  readonly file: (name: string, content: AsyncIterable<unknown>) => Promise<void>;
  readonly line: (text: string) => Promise<void>;
}

/**
 * Reads an archive to its end.
 *
 * @throws StageError if it is not a backup, is incomplete, or was written by a later release
 */
export async function readArchive(from: Readable, taker: Taker): Promise<Description> {
  const entries = extract();
  const unpacked = pipeline(from, createGunzip(), entries);
  let about: Description | undefined;
  let lines = 0;
  let isWhole = false;
  const taking = (async () => {
    for await (const entry of entries) {
      const { name, type } = entry.header;
      if (about === undefined) {
        about = name === descriptionName ? description.safeParse(await jsonOf(entry)).data : undefined;
        if (about === undefined)
          throw new StageError('This is not a backup of a stage, or it is from a later version.');
        continue;
      }
      if (type !== 'file') throw new StageError(`The backup has ${name}, which is not a file.`);
      if (isPart(name)) {
        for await (const line of linesIn(entry)) {
          lines += 1;
          await taker.line(line);
        }
      } else if (name === endName) {
        isWhole = end.safeParse(await jsonOf(entry)).data?.lines === lines;
      } else await taker.file(name, entry);
    }
  })();
  try {
    await Promise.all([unpacked, taking]);
  } catch (error) {
    entries.destroy();
    throw isUnreadable(error)
      ? new StageError(`The backup is damaged or not whole: ${error.message}`, { cause: error })
      : error;
  }
  if (about === undefined || !isWhole) throw new StageError('The backup is not whole: files are missing.');
  return about;
}

async function* linesIn(entry: AsyncIterable<unknown>): AsyncGenerator<string> {
  const bytes: Buffer[] = [];
  for await (const part of entry) if (part instanceof Uint8Array) bytes.push(Buffer.from(part));
  for (const line of Buffer.concat(bytes).toString().split('\n')) if (line !== '') yield line;
}

const longestDescription = 10_000;

async function jsonOf(entry: AsyncIterable<unknown>): Promise<unknown> {
  let text = '';
  for await (const part of entry) {
    if (text.length <= longestDescription) text += String(part);
  }
  return text.length > longestDescription ? undefined : jsonOrUndefined(text);
}

/** Whether zlib or the tar parser threw the error. */
const isUnreadable = (error: unknown): error is Error =>
  error instanceof Error &&
  (['Z_BUF_ERROR', 'Z_DATA_ERROR', 'ERR_STREAM_PREMATURE_CLOSE'].some((code) => isSystemError(error, code)) ||
    /tar|end of data/i.test(error.message));
