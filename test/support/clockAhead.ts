import { vi } from 'vitest';

const realNow = Date.now;

/** Sets the clock ahead of real time until the mocks are restored. */
export function setClockAhead(ms: number): void {
  vi.spyOn(Date, 'now').mockImplementation(() => realNow() + ms);
}
