import { afterAll, afterEach, beforeAll, vi } from 'vitest';
import type { StandIns } from '../../local/stage/standIns.ts';
import { startInProcess, type InProcessOptions } from './inProcess.ts';

/** Starts stand-ins for AWS for a file's tests. The clock is restored after each test. */
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
