/** Things that are started one after the other, and are stopped together. */

export interface Closable {
  close(): Promise<void>;
}

/** Remembers what was started. */
type Add = <T extends Closable>(started: T) => T;

/**
 * Starts several things. When one of them fails, those that run already are stopped.
 *
 * @returns what `start` made; its `close` stops all of them, the last one first
 */
export async function together<T extends object>(start: (add: Add) => Promise<T>): Promise<T & Closable> {
  const started: Closable[] = [];
  const close = async (): Promise<void> => {
    const failures: unknown[] = [];
    // Each is stopped, even if another one cannot be.
    for (const one of started.splice(0).reverse())
      await one.close().catch((error: unknown) => failures.push(error));
    if (failures.length > 0) throw new AggregateError(failures, 'Not all servers could be stopped.');
  };
  try {
    const made = await start((one) => {
      started.push(one);
      return one;
    });
    return { ...made, close };
  } catch (error) {
    await close();
    throw error;
  }
}
