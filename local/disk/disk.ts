/**
 * Watches the disk of the data directory. A fault is reported once a minute, and once more when the disk
 * works again.
 */
import { open, rm, statfs } from 'node:fs/promises';
import { join } from 'node:path';

type Kind = 'full' | 'readOnly' | 'failing' | 'damaged';

/** Words by which errors of the operating system and of LMDB are recognized, by kind of fault. */
const signs: Readonly<Record<Kind, RegExp>> = {
  full: /\bENOSPC\b|\bEDQUOT\b|no space left on device/i,
  readOnly: /\bEROFS\b|read-only file system/i,
  damaged: /the store is damaged|\bMDB_(CORRUPTED|INVALID|PAGE_NOTFOUND|PANIC)\b/i,
  failing: /\bEIO\b|input\/output error/i,
};

const sentences: Readonly<Record<Kind, (folder: string) => string>> = {
  full: (folder) =>
    `The disk of ${folder} is full. Accepted messages are kept; the service continues when there is room.`,
  readOnly: (folder) =>
    `${folder} cannot be written. Accepted messages are kept; the service continues when it can be written.`,
  failing: (folder) =>
    `The disk of ${folder} fails: make a backup, check the system's log, and replace the disk.`,
  damaged: (folder) =>
    `The store in ${folder} is damaged. Stop the service, move the folder away, and restore the last backup: svc-queue restore.`,
};

const textOf = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error);
  const code = 'code' in error ? String(error.code) : '';
  return `${code} ${error.message}`;
};

/** @returns undefined if the error is not about the disk */
export function diskSentence(error: unknown, folder: string): string | undefined {
  const kind = kindOf(textOf(error));
  return kind && sentences[kind](folder);
}

function kindOf(text: string): Kind | undefined {
  if (signs.full.test(text)) return 'full';
  if (signs.readOnly.test(text)) return 'readOnly';
  if (signs.damaged.test(text)) return 'damaged';
  return signs.failing.test(text) ? 'failing' : undefined;
}

/** The least free space, in bytes: enough for a minute of traffic. */
const leastRoom = 8 * 2 ** 20;
/** Written to test the disk. A smaller write may succeed even if transactions fail. */
const trial = Buffer.alloc(65_536);
const sayAgainAfterMs = 60_000;
const lookEveryMs = 2_000;

interface DiskOptions {
  readonly folder: string;
  readonly announce: (sentence: string) => void;
  readonly report: (error: unknown) => void;
}

export class Disk {
  readonly #options: DiskOptions;
  #said: { readonly kind: Kind; readonly at: number } | undefined;
  #looking: NodeJS.Timeout | undefined;

  constructor(options: DiskOptions) {
    this.#options = options;
  }

  /** Reports an error. An error of the disk is reported as a sentence, at most once a minute. */
  readonly report = (error: unknown): void => {
    if (!this.failed(textOf(error))) this.#options.report(error);
  };

  failed(text: string): boolean {
    const kind = kindOf(text);
    if (kind === undefined) return false;
    const at = performance.now();
    const isSaid = this.#said?.kind === kind && at - this.#said.at < sayAgainAfterMs;
    if (!isSaid) {
      this.#said = { kind, at };
      this.#options.report(new Error(sentences[kind](this.#options.folder)));
    }
    // A damaged store stays damaged.
    if (kind !== 'damaged') this.#looking ??= setInterval(() => void this.#lookAgain(), lookEveryMs).unref();
    return true;
  }

  /** Finds out why the stage can accept nothing at the moment. @returns undefined if it can */
  async trouble(): Promise<string | undefined> {
    const { folder } = this.#options;
    if (this.#said?.kind === 'damaged') return sentences.damaged(folder);
    try {
      const { bavail, bsize } = await statfs(folder);
      if (bavail * bsize < leastRoom) return sentences.full(folder);
      await this.#tryToWrite();
      return undefined;
    } catch (error) {
      return diskSentence(error, folder) ?? `${folder} cannot be used: ${textOf(error)}`;
    }
  }

  close(): void {
    clearInterval(this.#looking);
  }

  async #tryToWrite(): Promise<void> {
    const path = join(this.#options.folder, 'trial');
    try {
      const file = await open(path, 'w', 0o600);
      try {
        await file.writeFile(trial);
        await file.datasync();
      } finally {
        await file.close();
      }
    } finally {
      await rm(path, { force: true });
    }
  }

  async #lookAgain(): Promise<void> {
    if ((await this.trouble()) !== undefined) return;
    clearInterval(this.#looking);
    this.#looking = undefined;
    this.#said = undefined;
    this.#options.announce(`${this.#options.folder} can be written again.`);
  }
}
