/** Handles writes that the disk refuses. LMDB prints each failure and hardly says why. */
import { statfs } from 'node:fs/promises';
import { constants } from 'node:os';
import { dirname } from 'node:path';
import { setTimeout } from 'node:timers/promises';

/** How long writes pause after a failure (ms). */
const pauseMs = 1_000;
/** While the disk has less space than this (in bytes), writes pause. */
const leastRoom = 4 * 2 ** 20;

export class Refusals {
  readonly #file: string | undefined;
  #failedAt = -Infinity;

  constructor(file: string | undefined) {
    this.#file = file;
  }

  /** Waits for a while after a failure. @throws Error while the disk is full */
  async check(): Promise<void> {
    if (this.#failedAt === -Infinity) return;
    if (await this.#isFull()) throw full();
    await setTimeout(Math.max(0, pauseMs - (performance.now() - this.#failedAt)));
    this.#failedAt = -Infinity;
  }

  /** Records a failure. @returns an error that names the reason */
  async note(error: unknown): Promise<Error> {
    // LMDB reports a full disk as an input/output error.
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
      // Ignored, because the failure itself is reported.
      return false;
    }
  }
}

const full = (): Error => Object.assign(new Error('There is no room on the disk.'), { code: 'ENOSPC' });

/** Adds the code of a system error, because LMDB has only its number. */
function named(error: unknown): Error {
  if (!(error instanceof Error)) return new Error(String(error));
  const number = codeOf(error);
  // LMDB's own errors have negative numbers. Windows has other numbers.
  if (number === undefined || number <= 0 || process.platform === 'win32') return error;
  const [code = String(number)] = Object.entries(constants.errno).find(([, value]) => value === number) ?? [];
  return Object.assign(new Error(error.message, { cause: error }), { code });
}

const codeOf = (error: Error): number | undefined =>
  'code' in error && typeof error.code === 'number' ? error.code : undefined;

/**
 * Whether LMDB may have failed to write a meta page. After that, it refuses all reads and finishes no
 * transaction until the file is reopened.
 */
export const mayBePanic = (error: unknown): boolean =>
  error instanceof Error &&
  codeOf(error) !== undefined &&
  !error.message.includes('Attempting to write page');

/** Finds out why a transaction failed. lmdb returns the reason in a separate promise. */
export async function reasonOf(error: unknown): Promise<unknown> {
  if (!(error instanceof Error) || !('commitError' in error)) return error;
  try {
    await error.commitError;
  } catch (reason) {
    return reason;
  }
  return error;
}
