import { afterAll, afterEach, beforeAll, vi } from 'vitest';
import type { StandIns } from '../../local/stage/standIns.ts';
import { startInProcess, type InProcessOptions } from './inProcess.ts';

/** Starts the stand-ins for AWS around a file's tests, which may set the clock: it is right again after each. */
export function useStandIns(options?: InProcessOptions): () => StandIns {
  let inProcess: Awaited<ReturnType<typeof startInProcess>> | undefined;
  beforeAll(async () => {
    inProcess = await startInProcess(options);
  });
  afterEach(() => {
    vi.useRealTimers();
  });
  afterAll(() => inProcess?.stop());
  return () => {
    if (inProcess === undefined) throw new Error('The stand-ins have not started.');
    return inProcess.standIns;
  };
}
