/**
 * Copies a stage's store as it changes: first a base with all pages, and then files with the pages that
 * changed. The stage itself does nothing for it.
 */
import { mkdirSync, readFileSync, readdirSync, renameSync, rmSync, statSync, utimesSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import manifest from '../../package.json' with { type: 'json' };
import { flushFile, flushFolder } from '../durable.ts';
import { StageError } from '../stage/stageError.ts';
import { DamageError } from '../store/checksum.ts';
import { newerPages, readMetaAtWork } from '../store/newerPages.ts';
import { idOf, lost } from '../store/openStore.ts';
import { PageFile } from '../store/pageFile.ts';
import { Store } from '../store/store.ts';
import { checkFolder, explained } from './backUp.ts';
import { changesIn, isOfSame, nameOf, placesIn, writeChanges, type Changes } from './changes.ts';
import { secretNames, storeName } from './files.ts';

interface FollowOptions {
  readonly dataDirectory: string;
  readonly folder: string;
  readonly everyMs: number;
  /** When aborted, one more file is written. */
  readonly signal: AbortSignal;
  readonly announce: (sentence: string) => void;
}

export async function follow(options: FollowOptions): Promise<void> {
  const [data, folder] = [resolve(options.dataDirectory), resolve(options.folder)];
  await checkFolder(data);
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const follower = new Follower(data, folder, options.announce);
    follower.begin();
    for (;;) {
      const isLast = options.signal.aborted;
      await follower.look(isLast);
      if (isLast) return;
      const slept = setTimeout(options.everyMs, undefined, options).catch(() => undefined);
      await Promise.race([slept, follower.base ?? slept]);
    }
  } catch (error) {
    throw error instanceof DamageError
      ? lost(join(data, storeName), `is damaged (${error.message})`)
      : explained(error, folder);
  }
}

/** A longer chain would take too long to restore. */
const mostFiles = 10_000;
const leastBytes = 2 ** 24;

class Follower {
  readonly #data: string;
  readonly #folder: string;
  readonly #announce: (sentence: string) => void;
  #last: Changes | undefined;
  /** The base of the next chain. It is written while the current chain continues. */
  base: Promise<Changes | undefined> | undefined;

  constructor(data: string, folder: string, announce: (sentence: string) => void) {
    this.#data = data;
    this.#folder = folder;
    this.#announce = announce;
  }

  /** Finds the end of the chain in the folder, and removes incomplete files. */
  begin(): void {
    const places = placesIn(this.#folder);
    const chain = places.findLast(({ number }) => number === 0)?.chain;
    const last = places.findLast((place) => place.chain === chain);
    if (last !== undefined) this.#last = changesIn(this.#in(last.name));
    if (this.#last !== undefined && !isOfSame(this.#last.secrets, this.#secrets()))
      throw new StageError(`${this.#folder} is of another stage: choose another folder with --follow.`);
    for (const { name } of places.filter((place) => place.chain !== chain)) rmSync(this.#in(name));
    for (const name of readdirSync(this.#folder)) if (name.endsWith('.part')) rmSync(this.#in(name));
  }

  /** Writes what has changed since the last file. */
  async look(isLast: boolean): Promise<void> {
    const places = placesIn(this.#folder);
    const newest = places.at(-1);
    const [last, lastName] = [this.#last, this.#last && nameOf(this.#last)];
    if (lastName !== undefined && newest !== undefined && newest.name > lastName)
      throw new StageError(`Another process writes to ${this.#folder}: choose another folder with --follow.`);
    // If the last file is gone, the chain cannot continue.
    this.#last = newest?.name === lastName ? last && (await this.#continue(last)) : undefined;
    if (this.#last === undefined || this.#isLong(places)) {
      this.base ??= this.#write((newest?.chain ?? 0) + 1);
      this.base.catch(() => undefined);
    }
    const base = await (isLast ? this.base : Promise.race([this.base, Promise.resolve(undefined)]));
    if (base !== undefined) await this.#change(base);
  }

  /** @returns the last file of the chain; undefined if the chain is of another store */
  async #continue(last: Changes): Promise<Changes | undefined> {
    const next = await this.#write(last.chain, last);
    // Nothing has changed. The new time of the file shows that the process is alive.
    if (next === last) utimesSync(this.#in(nameOf(last)), new Date(), new Date());
    else if (next !== undefined) this.#publish(next);
    return next;
  }

  #isLong([base, ...others]: readonly { readonly name: string }[]): boolean {
    const bytesOf = (name = ''): number => statSync(this.#in(name)).size;
    const bytes = others.reduce((sum, { name }) => sum + bytesOf(name), 0);
    return others.length > mostFiles || bytes > Math.max(leastBytes, bytesOf(base?.name));
  }

  /**
   * Replaces the chain with the next one. The new chain has a second file at once, so that it is not behind the old one.
   */
  async #change(base: Changes): Promise<void> {
    this.base = undefined;
    const next = await this.#write(base.chain, base);
    if (next === undefined) return;
    if (next !== base) this.#publish(next);
    this.#publish(base);
    this.#last = next;
    for (const { chain, name } of placesIn(this.#folder)) if (chain < base.chain) rmSync(this.#in(name));
    const megabytes = (statSync(this.#in(nameOf(base))).size / 1e6).toFixed(1);
    this.#announce(`${this.#folder} has a new base of ${megabytes} MB. Files with changes follow it.`);
  }

  /**
   * Writes the pages that changed since a file (or all) to a hidden file.
   *
   * @returns the given file if no page changed; undefined if it is not from an earlier moment of this store
   */
  async #write(chain: number, last?: Changes): Promise<Changes | undefined> {
    const path = join(this.#data, storeName);
    const place = { chain, number: last === undefined ? 0 : last.number + 1 };
    const madeAt = new Date().toISOString();
    const store = new Store(path, true);
    const file = new PageFile(path);
    try {
      const meta = readMetaAtWork(file);
      const { transaction } = meta;
      const id = idOf(store);
      if (last !== undefined && (last.store !== id || last.transaction > transaction)) return undefined;
      if (last?.transaction === transaction) return last;
      const head = {
        ...place,
        format: 1,
        version: manifest.version,
        madeAt,
        previous: last?.digest,
        store: id,
        transaction,
        pageBytes: file.pageBytes,
        meta: meta.bytes.toString('base64'),
        secrets: this.#secrets(),
      } as const;
      const pages = newerPages(file, meta, last?.transaction ?? 0);
      const made = await writeChanges(this.#hidden(place), head, pages);
      // After a loss of power, the same number could be used for another transaction.
      flushFile(path);
      const now = readMetaAtWork(file);
      if (now.transaction > transaction || now.bytes.equals(meta.bytes)) return made;
      throw new StageError('The stage could not write its last transaction. Its log says why.');
    } catch (error) {
      rmSync(this.#hidden(place), { force: true });
      throw error;
    } finally {
      file.close();
      await store.close();
    }
  }

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
