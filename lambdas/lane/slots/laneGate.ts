/** The gate by which the attempts of this process acquire their lanes. */
import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { now } from '../../shared/clock.ts';
import { processPrefix } from '../lane.ts';
import { log } from '../../aws/log.ts';
import { lanes } from './processLanes.ts';
import type { Circuits } from './circuits.ts';
import { createLaneGate } from './acquire.ts';
import { createProcessSlots } from './processSlots.ts';

const slots = createProcessSlots({
  lanes,
  process: processPrefix + randomUUID(),
  now,
  sleep: (ms) => setTimeout(ms),
  report: (key, error) => {
    log.warn('The slots of this process could not be written, and end by themselves', {
      ...key,
      error: String(error),
    });
  },
});

// Few accounts have circuits, and their code is loaded for the first message that enters one.
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
    log.warn('A lease of an attempt that takes long could not be renewed, and is to be renewed again', {
      ...key,
      error: String(error),
    });
  },
});
