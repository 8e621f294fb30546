/** Things that are started one after another and stopped together. */

export interface Closable {
  close(): Promise<unknown>;
}

type Add = <T extends Closable>(started: T) => T;

/**
 * Starts several things. If one fails, those already running are stopped.
 *
 * @returns what `start` returned; its `close` stops all, last one first
 */
export async function together<T extends object>(start: (add: Add) => Promise<T>): Promise<T & Closable> {
  const started: Closable[] = [];
  const close = async (): Promise<void> => {
    const failures: unknown[] = [];
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
