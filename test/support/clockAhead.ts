import { vi } from 'vitest';

const realNow = Date.now;

/** Sets the clock ahead of the true time until the mocks are restored. */
export function setClockAhead(ms: number): void {
  vi.spyOn(Date, 'now').mockImplementation(() => realNow() + ms);
}
