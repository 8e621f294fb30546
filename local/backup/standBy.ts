/**
 * Restores what `follow.ts` writes, until it is stopped. It works in one folder of the data directory, while
 * which no stage starts. The folder contains `part`, a file that is being copied; `next`, the file that is
 * being applied; `last`, the one that was applied last; and `ended`, the same while the store becomes a
 * stage's own.
 */
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { flushFolder, replaceFile } from '../durable.ts';
import { lockDataDirectory } from '../stage/dataDirectory.ts';
import { StageError, isSystemError } from '../stage/stageError.ts';
import { markUsed, noteKill, openStore } from '../store/openStore.ts';
import { checkPages } from '../store/pages.ts';
import { checkEmpty, explained, moveInto } from './backUp.ts';
import { applyChanges, changesIn, copyChanges, isOfSame, nameOf, placesIn, type Changes } from './changes.ts';
import { following, restoring, secretNames, storeName } from './files.ts';

interface StandByOptions {
  readonly dataDirectory: string;
  readonly folder: string;
  /** When aborted, the remaining files are applied. */
  readonly signal: AbortSignal;
  readonly announce: (sentence: string) => void;
}

const lookEveryMs = 1_000;

/** @throws StageError; the next call continues */
export async function standBy(options: StandByOptions): Promise<void> {
  const data = resolve(options.dataDirectory);
  const { unlock } = await lockDataDirectory(data);
  try {
    const standby = new Standby(data, resolve(options.folder), options.announce);
    if (await standby.begin()) return;
    for (let isLast = false; !isLast;) {
      isLast = options.signal.aborted;
      try {
        while (await standby.takeNext());
      } catch (error) {
        if (!isLast || !(error instanceof StageError)) throw error;
        options.announce(error.message);
      }
      if (!isLast) await setTimeout(lookEveryMs, undefined, options).catch(() => undefined);
    }
    await standby.end();
  } catch (error) {
    throw explained(error, data);
  } finally {
    unlock();
  }
}

class Standby {
  readonly #data: string;
  readonly #folder: string;
  readonly #announce: (sentence: string) => void;
  #last: Changes | undefined;

  constructor(data: string, folder: string, announce: (sentence: string) => void) {
    this.#data = data;
    this.#folder = folder;
    this.#announce = announce;
  }

  /** Continues after an interruption. @returns whether the work was already finished */
  async begin(): Promise<boolean> {
    const wasMoved = existsSync(join(this.#data, storeName)) && !existsSync(this.#in(storeName));
    if (existsSync(this.#in('ended')) || (wasMoved && existsSync(this.#in('')))) {
      await this.#finish();
      return true;
    }
    checkEmpty(this.#data, restoring);
    this.#announce(`${this.#data} follows ${this.#folder}.`);
    mkdirSync(this.#in(''), { recursive: true, mode: 0o700 });
    if (existsSync(this.#in('next'))) await this.#apply(changesIn(this.#in('next')));
    else if (existsSync(this.#in('last'))) this.#last = changesIn(this.#in('last'));
    return false;
  }

  /** Applies the next file. @returns whether there was one */
  async takeNext(): Promise<boolean> {
    const name = this.#nextName();
    if (name === undefined) return false;
    const part = this.#in('part');
    try {
      await copyChanges(join(this.#folder, name), part);
    } catch (error) {
      rmSync(part, { force: true });
      // The file is gone, because a new base has replaced its chain.
      if (isSystemError(error, 'ENOENT')) return true;
      throw error;
    }
    const changes = changesIn(part);
    const last = this.#last;
    const isNext =
      nameOf(changes) === name &&
      (changes.number === 0
        ? last === undefined || isOfSame(changes.secrets, last.secrets)
        : changes.previous === last?.digest);
    if (!isNext) throw this.#stuck(`${name} in ${this.#folder} does not follow the files before it.`);
    renameSync(part, this.#in('next'));
    flushFolder(this.#in(''));
    await this.#apply(changes);
    return true;
  }

  #nextName(): string | undefined {
    const places = placesIn(this.#folder);
    const base = places.findLast(({ number }) => number === 0);
    const last = this.#last;
    if (base === undefined || base.chain < (last?.chain ?? 0)) return undefined;
    if (base.chain !== last?.chain) return base.name;
    const next = places.find(({ chain, number }) => chain === last.chain && number > last.number);
    if (next === undefined || next.number === last.number + 1) return next?.name;
    // Another base may have replaced the chain while the folder was read.
    if (placesIn(this.#folder).some(({ chain }) => chain > last.chain)) return undefined;
    throw this.#stuck(`${nameOf({ ...last, number: last.number + 1 })} in ${this.#folder} is missing.`);
  }

  async #apply(changes: Changes): Promise<void> {
    const store = this.#in(storeName);
    const isBase = changes.number === 0;
    const target = isBase ? `${store}.new` : store;
    if (isBase) writeFileSync(target, '', { mode: 0o600 });
    await applyChanges(this.#in('next'), target);
    if (isBase) {
      await this.#check(target).catch((error: unknown) => {
        rmSync(this.#in('next'));
        throw error;
      });
      renameSync(target, store);
    }
    renameSync(this.#in('next'), this.#in('last'));
    flushFolder(this.#in(''));
    this.#last = changes;
    if (isBase) this.#announce(`${this.#data} has the base of ${changes.madeAt}.`);
  }

  async #check(store: string): Promise<void> {
    const damage = await checkPages(store, { limitMs: Infinity });
    if (damage !== undefined) throw this.#stuck(`The store is damaged: ${damage}.`);
  }

  #stuck(sentence: string): StageError {
    return new StageError(
      `${sentence} ${this.#data} stays as it is. Delete the files in ${this.#folder}, so that a new base is written there.`,
    );
  }

  /** Turns the folder into the data directory of a stage that was killed. */
  async end(): Promise<void> {
    if (this.#last === undefined) {
      rmSync(this.#in(''), { recursive: true });
      throw new StageError(`${this.#folder} has no base yet.`);
    }
    await this.#check(this.#in(storeName));
    for (const name of secretNames) replaceFile(this.#in(name), Buffer.from(this.#last.secrets[name] ?? ''));
    renameSync(this.#in('last'), this.#in('ended'));
    flushFolder(this.#in(''));
    await this.#finish();
  }

  async #finish(): Promise<void> {
    if (existsSync(this.#in(storeName))) {
      const { madeAt } = changesIn(this.#in('ended'));
      const { store } = await openStore(this.#in(storeName), true);
      try {
        await markUsed(store);
        await noteKill(store, Date.parse(madeAt));
      } finally {
        await store.close();
      }
      this.#announce(`${this.#data} is as the stage was at ${madeAt}.`);
    }
    await moveInto(this.#in(''), this.#data);
    this.#announce(`Start it: svc-queue start --data-dir ${this.#data}`);
  }

  #in(name: string): string {
    return join(this.#data, following, name);
  }
}
