import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { now } from '../../shared/clock.ts';
import { processPrefix } from '../lane.ts';
import { log } from '../../aws/log.ts';
import { lanes } from './processLanes.ts';
import type { Circuits } from './circuitView.ts';
import { createLaneGate } from './acquire.ts';
import { createProcessSlots } from './processSlots.ts';

const slots = createProcessSlots({
  lanes,
  process: processPrefix + randomUUID(),
  now,
  sleep: (ms) => setTimeout(ms),
  report: (key, error) => {
    log.warn('The slot leases of this process were not written, and will expire', {
      ...key,
      error: String(error),
    });
  },
});

// Few accounts have circuits.
const circuits: Circuits = {
  enter: async (...attempt) => (await import('./processCircuits.ts')).circuits.enter(...attempt),
};

export const laneGate = createLaneGate({
  lanes,
  slots,
  circuits,
  now,
  sleep: (ms) => setTimeout(ms),
  report: (key, error) => {
    log.warn('A lease of a long attempt was not renewed, and will be retried', {
      ...key,
      error: String(error),
    });
  },
});
