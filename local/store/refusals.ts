/** The handling of writes while the disk refuses them. LMDB says little of the reason, and prints each failure. */
import { statfs } from 'node:fs/promises';
import { constants } from 'node:os';
import { dirname } from 'node:path';
import { setTimeout } from 'node:timers/promises';

/** After a failure nothing is tried for so long, in ms. */
const pauseMs = 1_000;
/** With less room on the disk, in bytes, nothing is tried either. */
const leastRoom = 4 * 2 ** 20;

export class Refusals {
  readonly #file: string | undefined;
  #failedAt = -Infinity;

  constructor(file: string | undefined) {
    this.#file = file;
  }

  /** Waits a while after a failure. @throws Error while there is no room on the disk */
  async check(): Promise<void> {
    if (this.#failedAt === -Infinity) return;
    if (await this.#isFull()) throw full();
    await setTimeout(Math.max(0, pauseMs - (performance.now() - this.#failedAt)));
    this.#failedAt = -Infinity;
  }

  /** Takes note of a failure. @returns the reason, in words by which it is known */
  async note(error: unknown): Promise<Error> {
    // LMDB calls a write that found too little room an input/output error.
    const reason = (await this.#isFull()) ? full() : named(error);
    this.#failedAt = performance.now();
    return reason;
  }

  async #isFull(): Promise<boolean> {
    if (this.#file === undefined) return false;
    try {
      const { bavail, bsize } = await statfs(dirname(this.#file));
      return bavail * bsize < leastRoom;
    } catch {
      // The failure itself says what is wrong.
      return false;
    }
  }
}

const full = (): Error => Object.assign(new Error('There is no room on the disk.'), { code: 'ENOSPC' });

/** Gives a failure of the operating system its name as its code: LMDB has its number. */
function named(error: unknown): Error {
  if (!(error instanceof Error)) return new Error(String(error));
  const number = codeOf(error);
  // Its own numbers are negative, and Windows has others.
  if (number === undefined || number <= 0 || process.platform === 'win32') return error;
  const [code = String(number)] = Object.entries(constants.errno).find(([, value]) => value === number) ?? [];
  return Object.assign(new Error(error.message, { cause: error }), { code });
}

const codeOf = (error: Error): number | undefined =>
  'code' in error && typeof error.code === 'number' ? error.code : undefined;

/**
 * Whether LMDB may have failed to write its first two pages. From then on it refuses all reads, and never ends another transaction,
 * until the file is opened again. After the failure of another page, of which it says the place, it goes on.
 */
export const mayBePanic = (error: unknown): boolean =>
  error instanceof Error &&
  codeOf(error) !== undefined &&
  !error.message.includes('Attempting to write page');

/** The reason for which a transaction failed, which lmdb gives in a separate promise. */
export async function reasonOf(error: unknown): Promise<unknown> {
  if (!(error instanceof Error) || !('commitError' in error)) return error;
  try {
    await error.commitError;
  } catch (reason) {
    return reason;
  }
  return error;
}
