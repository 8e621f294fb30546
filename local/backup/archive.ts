/** The file of a backup: a gzipped tar archive, with a description as its first entry. */
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import type { Readable, Writable } from 'node:stream';
import { createGunzip, createGzip } from 'node:zlib';
import { extract, pack, type Pack } from 'tar-stream';
import * as z from 'zod/mini';
import manifest from '../../package.json' with { type: 'json' };
import { jsonOrUndefined } from '../json.ts';
import { StageError, isSystemError } from '../stage/stageError.ts';
import type { Snapshot } from './snapshot.ts';

const descriptionName = 'backup.json';
const format = 1;
const description = z.object({
  format: z.literal(format),
  /** The version of the service that made it. */
  version: z.string(),
  /** ISO 8601. */
  madeAt: z.string(),
  files: z.number(),
});
export type Description = z.infer<typeof description>;

/** Quick: bodies and rows shrink to a third already at the first level. */
const compression = { level: 1 };

/** Writes a snapshot to a stream, and ends the stream. */
export async function writeArchive({ files }: Pick<Snapshot, 'files'>, to: Writable): Promise<void> {
  const archive = pack();
  const about: Description = {
    format,
    version: manifest.version,
    madeAt: new Date().toISOString(),
    files: files.length,
  };
  const written = pipeline(archive, createGzip(compression), to);
  const adding = (async () => {
    archive.entry({ name: descriptionName, mode }, `${JSON.stringify(about)}\n`);
    for (const [name, path] of files) await add(archive, name, path);
    archive.finalize();
  })();
  try {
    await Promise.all([written, adding]);
  } catch (error) {
    archive.destroy();
    throw error;
  }
}

const mode = 0o600;

async function add(archive: Pack, name: string, path: string): Promise<void> {
  const { size } = await stat(path);
  const entry = archive.entry({ name, mode, size });
  // What was added to a file meanwhile is not of this moment.
  await (size === 0
    ? new Promise<void>((resolve) => entry.end(resolve))
    : pipeline(createReadStream(path, { end: size - 1 }), entry));
}

/**
 * Reads an archive to its end.
 *
 * @param take is given each file in turn, and reads it to its end
 * @throws StageError when it is no backup, is not whole, or was made by a later version in another format
 */
export async function readArchive(
  from: Readable,
  take: (name: string, content: AsyncIterable<unknown>) => Promise<void>,
): Promise<Description> {
  const entries = extract();
  const unpacked = pipeline(from, createGunzip(), entries);
  let about: Description | undefined;
  let files = 0;
  const taking = (async () => {
    for await (const entry of entries) {
      const { name, type } = entry.header;
      if (about === undefined) {
        about = name === descriptionName ? await describedBy(entry) : undefined;
        if (about === undefined)
          throw new StageError('This is no backup of a stage, or one of a later version.');
        continue;
      }
      if (type !== 'file') throw new StageError(`The backup has ${name}, which is no file.`);
      files += 1;
      await take(name, entry);
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
  if (about === undefined || about.files !== files)
    throw new StageError('The backup is not whole: files are missing.');
  return about;
}

/** Characters of a description; those that are written have some 100. */
const longestDescription = 10_000;

async function describedBy(entry: AsyncIterable<unknown>): Promise<Description | undefined> {
  let text = '';
  for await (const part of entry) {
    if (text.length <= longestDescription) text += String(part);
  }
  if (text.length > longestDescription) return undefined;
  return description.safeParse(jsonOrUndefined(text)).data;
}

/** Whether the error is one of zlib or of the archive's form. */
const isUnreadable = (error: unknown): error is Error =>
  error instanceof Error &&
  (['Z_BUF_ERROR', 'Z_DATA_ERROR', 'ERR_STREAM_PREMATURE_CLOSE'].some((code) => isSystemError(error, code)) ||
    /tar|end of data/i.test(error.message));
