import { now } from '../../shared/clock.ts';
import { log } from '../../aws/log.ts';
import { count } from '../../aws/metrics.ts';
import { loadLane } from '../store/laneRows.ts';
import { createCircuits } from './circuitView.ts';
import { lanes } from './processLanes.ts';

export const circuits = createCircuits({
  lanes,
  load: loadLane,
  now,
  tell: ({ accountId, name: host }, turn, { failures, lastStatus, lastError, openUntil }) => {
    const isOpened = turn === 'opened';
    count(isOpened ? 'CircuitsOpened' : 'CircuitsClosed');
    log[isOpened ? 'warn' : 'info'](`A circuit was ${turn}`, {
      accountId,
      host,
      ...(isOpened && { failures, status: lastStatus, error: lastError, openUntil }),
    });
  },
  report: ({ accountId, name: host }, error) => {
    log.warn('The outcome of an attempt was not counted for its circuit', {
      accountId,
      host,
      error: String(error),
    });
  },
});
