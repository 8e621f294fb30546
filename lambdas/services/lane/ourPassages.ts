/** The passages of this process: how its attempts enter their lanes. */
import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { now } from '../../domain/clock.ts';
import { processPrefix } from '../../domain/lane/lane.ts';
import { log } from '../../log.ts';
import { lanes } from './ourLanes.ts';
import { loadLane } from '../../stores/lane/lanes.ts';
import { countMetric } from '../../metrics.ts';
import { createCircuits } from './circuits.ts';
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

const circuits = createCircuits({
  lanes,
  load: loadLane,
  now,
  tell: ({ accountId, name: host }, turn, { failures, lastStatus, lastError, openUntil }) => {
    const isOpened = turn === 'opened';
    countMetric(isOpened ? 'CircuitsOpened' : 'CircuitsClosed', 1, accountId);
    log[isOpened ? 'warn' : 'info'](`A circuit was ${turn}`, {
      accountId,
      host,
      ...(isOpened && { failures, status: lastStatus, error: lastError, openUntil }),
    });
  },
  report: ({ accountId, name: host }, error) => {
    log.warn('What an attempt says about its host could not be counted', {
      accountId,
      host,
      error: String(error),
    });
  },
});

export const passages = createPassages({ lanes, slots, circuits, now, sleep: (ms) => setTimeout(ms) });
