/**
 * Copies a stage's store as it changes: a base with all pages, and then files with the pages that changed. The stage does not take
 * part.
 */
import { mkdirSync, readFileSync, readdirSync, renameSync, rmSync, statSync, utimesSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import manifest from '../../package.json' with { type: 'json' };
import { flushFile, flushFolder } from '../durable.ts';
import { StageError } from '../stage/stageError.ts';
import { DamageError } from '../store/checksum.ts';
import { newerPages, readMetaAtWork } from '../store/newerPages.ts';
import { idOf, lost } from '../store/openStore.ts';
import { PageFile } from '../store/pageFile.ts';
import { Store } from '../store/store.ts';
import { checkFolder, explained } from './backUp.ts';
import { changesIn, nameOf, placesIn, writeChanges, type Changes } from './changes.ts';
import { secretNames, storeName } from './files.ts';

interface FollowOptions {
  readonly dataDirectory: string;
  readonly folder: string;
  readonly everyMs: number;
  /** Ends it after one more file. */
  readonly signal: AbortSignal;
  readonly announce: (sentence: string) => void;
}

/** @throws StageError */
export async function follow(options: FollowOptions): Promise<void> {
  const [data, folder] = [resolve(options.dataDirectory), resolve(options.folder)];
  await checkFolder(data);
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const follower = new Follower(data, folder, options.announce);
    follower.begin();
    for (let isLast = false; !isLast;) {
      isLast = options.signal.aborted;
      await follower.look(isLast);
      if (!isLast) await setTimeout(options.everyMs, undefined, options).catch(() => undefined);
    }
  } catch (error) {
    throw error instanceof DamageError
      ? lost(join(data, storeName), `is damaged (${error.message})`)
      : explained(error, folder);
  }
}

/** A longer chain takes too long to restore. */
const mostFiles = 10_000;

interface Base {
  readonly written: Promise<Changes>;
  isDone: boolean;
}

class Follower {
  readonly #data: string;
  readonly #folder: string;
  readonly #announce: (sentence: string) => void;
  /** The last file of the chain. */
  #last: Changes | undefined;
  /** The base of the next chain, which is written while this one continues. */
  #base: Base | undefined;

  constructor(data: string, folder: string, announce: (sentence: string) => void) {
    this.#data = data;
    this.#folder = folder;
    this.#announce = announce;
  }

  /** Finds the end of the chain in the folder. */
  begin(): void {
    for (const name of readdirSync(this.#folder)) if (name.endsWith('.part')) rmSync(this.#in(name));
    const last = placesIn(this.#folder).at(-1);
    if (last === undefined) return;
    this.#last = changesIn(this.#in(last.name));
    if (!isDeepStrictEqual(this.#last.secrets, this.#secrets()))
      throw new StageError(`${this.#folder} is of another stage: choose another folder with --follow.`);
  }

  /** Writes what has changed. */
  async look(isLast: boolean): Promise<void> {
    const places = placesIn(this.#folder);
    const newest = places.at(-1)?.chain ?? 0;
    if (this.#last !== undefined) {
      const { chain, number } = this.#last;
      if (newest > chain)
        throw new StageError(
          `Another process writes to ${this.#folder}: choose another folder with --follow.`,
        );
      const isThere = places.some((place) => place.chain === chain && place.number === number);
      this.#last = isThere ? await this.#continue(this.#last) : undefined;
    }
    if (this.#last === undefined || this.#isLong(places.filter(({ chain }) => chain === newest)))
      this.#base ??= this.#begun(newest + 1);
    if (this.#base !== undefined && (this.#base.isDone || isLast)) await this.#change(this.#base);
  }

  /** @returns the last file of the chain; undefined if the store is another one */
  async #continue(last: Changes): Promise<Changes | undefined> {
    const next = await this.#write(last.chain, last);
    if (next === 'unchanged') {
      // Shows that the process is alive.
      utimesSync(this.#in(nameOf(last)), new Date(), new Date());
      return last;
    }
    if (next === undefined) return undefined;
    this.#publish(next);
    return next;
  }

  #isLong([base, ...others]: readonly { readonly name: string }[]): boolean {
    const bytesOf = (name = ''): number => statSync(this.#in(name)).size;
    const bytes = others.reduce((sum, { name }) => sum + bytesOf(name), 0);
    return others.length > mostFiles || bytes > bytesOf(base?.name);
  }

  #begun(chain: number): Base {
    const written = this.#write(chain).then((made) => {
      if (made === undefined || made === 'unchanged') throw new Error('The base has no pages.');
      return made;
    });
    const base = { written, isDone: false };
    const end = (): void => {
      base.isDone = true;
    };
    written.then(end, end);
    return base;
  }

  /** Replaces the chain. The new one begins with two files, so that it is not older. */
  async #change({ written }: Base): Promise<void> {
    const base = await written;
    this.#base = undefined;
    const next = await this.#write(base.chain, base);
    if (next === undefined) {
      rmSync(this.#hidden(base));
      return;
    }
    if (next !== 'unchanged') this.#publish(next);
    this.#publish(base);
    this.#last = next === 'unchanged' ? base : next;
    for (const { chain, name } of placesIn(this.#folder)) if (chain < base.chain) rmSync(this.#in(name));
    const megabytes = (statSync(this.#in(nameOf(base))).size / 1e6).toFixed(1);
    this.#announce(`${this.#folder} has a new base of ${megabytes} MB. Files with changes follow it.`);
  }

  /**
   * Writes the pages that changed since a file, or all, under a hidden name.
   *
   * @returns undefined if the file is not from an earlier moment of this store
   */
  async #write(chain: number, last?: Changes): Promise<Changes | 'unchanged' | undefined> {
    const path = join(this.#data, storeName);
    const store = new Store(path, true);
    const file = new PageFile(path);
    const madeAt = new Date().toISOString();
    const number = last === undefined ? 0 : last.number + 1;
    try {
      const meta = readMetaAtWork(file);
      const { transaction } = meta;
      const id = idOf(store);
      if (last !== undefined && (last.store !== id || last.transaction > transaction)) return undefined;
      if (last?.transaction === transaction) return 'unchanged';
      const made = await writeChanges(
        this.#hidden({ chain, number }),
        {
          format: 1,
          version: manifest.version,
          madeAt,
          chain,
          number,
          previous: last?.digest,
          store: id,
          transaction,
          pageBytes: file.pageBytes,
          meta: meta.bytes.toString('base64'),
          secrets: this.#secrets(),
        },
        newerPages(file, meta, last?.transaction ?? 0),
      );
      // A loss of power could replace the transaction by another one.
      flushFile(path);
      const now = readMetaAtWork(file);
      if (now.transaction > transaction || now.bytes.equals(meta.bytes)) return made;
      throw new StageError('The stage could not write its last transaction. Its log says why.');
    } catch (error) {
      rmSync(this.#hidden({ chain, number }), { force: true });
      throw error;
    } finally {
      file.close();
      await store.close();
    }
  }

  /** Gives a file its name. */
  #publish(made: Changes): void {
    renameSync(this.#hidden(made), this.#in(nameOf(made)));
    flushFolder(this.#folder);
  }

  #secrets(): Readonly<Record<string, string>> {
    return Object.fromEntries(
      secretNames.map((name) => [name, readFileSync(join(this.#data, name), 'utf8')]),
    );
  }

  #hidden(of: Parameters<typeof nameOf>[0]): string {
    return this.#in(`.${nameOf(of)}.part`);
  }

  #in(name: string): string {
    return join(this.#folder, name);
  }
}
