/** The passages of this process: how its attempts enter their lanes. */
import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { now } from '../../domain/clock.ts';
import { processPrefix } from '../../domain/lane/lane.ts';
import { log } from '../../log.ts';
import { lanes } from './ourLanes.ts';
import { createPassages } from './passage.ts';
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

export const passages = createPassages({ lanes, slots, now, sleep: (ms) => setTimeout(ms) });
