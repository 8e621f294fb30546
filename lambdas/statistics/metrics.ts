/** An account's metrics in Prometheus' text format. */
import { limitsOf, type Account } from '../account/account.ts';
import { loadSize } from '../deadLetter/sizeRows.ts';
import { isReadForOldest, readFigures, whatWaits } from '../lane/figures.ts';
import { slotsInUse, waitingIn, type Lane } from '../lane/lane.ts';
import { eachOf } from '../shared/lists.ts';
import { dayOf, now, secondMs } from '../shared/clock.ts';
import { settledAfterMs } from '../message/log.ts';
import { limitNames } from '../value/limits.ts';
import { logAndContinue } from '../aws/logAndContinue.ts';
import { countWaiting, waitingKinds } from '../waiting/count.ts';
import { countOutcomes } from './countOutcomes.ts';
import { noOutcomes, outcomes } from './outcomes.ts';
export { expositionType } from './rules/exposition.ts';
import { expositionOf, type Family, type Series } from './rules/exposition.ts';

const mostSeries = 1_000;
/** How many pages of waiting lines are read, for the age of their first message. */
const mostPages = 100;
const pagesAtOnce = 20;
/** How long the log is read if much of it is uncounted. */
const logBudgetMs = secondMs;
/** How long the messages that have not ended are read. Prometheus waits ten seconds for an answer. */
const pendingBudgetMs = 4 * secondMs;

/** Lanes with the longest waiting lines first; if equal, those with the most slots in use. */
const busiestFirst = (time: number) => (one: Lane, other: Lane) =>
  waitingIn(other) - waitingIn(one) || slotsInUse(other, time) - slotsInUse(one, time);

const seriesOfQueue = 3;

export async function readMetrics(account: Account): Promise<string> {
  const time = now();
  const [lanes, deadLetters, { settled }, pending] = await Promise.all([
    readFigures(account),
    loadSize(account.id, time),
    countOutcomes(account, logBudgetMs),
    // If the account has reached its limit of long reads, the other metrics are still shown.
    logAndContinue(countWaiting(account, { values: new Map() }, time + pendingBudgetMs)),
  ]);
  const { queues, keys, unread } = lanes;
  const limits = limitsOf(account);
  const lines = [...queues, ...keys].reduce((sum, lane) => sum + waitingIn(lane), 0);
  const waiting = lines + lanes.waitingForHosts + (lanes.account ? waitingIn(lanes.account) : 0);
  // Counters must not decrease within a day. Younger counts could be in one answer and missing in the next.
  const day = dayOf(time - settledAfterMs);
  const ended = settled.days.get(day) ?? noOutcomes;

  const fixed = [
    gauge(
      'svc_messages_waiting',
      'Deliveries that wait in lines: of queues, flow-control keys, the account, and hosts that are down.',
      waiting,
    ),
    {
      name: 'svc_messages_pending',
      type: 'gauge',
      help: 'Messages that have not ended, by state; absent until all are counted.',
      series: pending ? waitingKinds.map((state) => ({ labels: { state }, value: pending[state] })) : [],
    },
    gauge(
      'svc_deliveries_in_flight',
      'Deliveries in flight at most.',
      lanes.account ? slotsInUse(lanes.account, time) : 0,
    ),
    gauge('svc_dead_letters', 'Dead letters that are kept.', deadLetters),
    gauge('svc_hosts_down', 'Hosts whose circuit is open.', lanes.hostsDown),
    {
      name: 'svc_limit',
      type: 'gauge',
      help: 'Limits of the account, in the units of its record.',
      series: limitNames.map((limit) => ({ labels: { limit }, value: limits[limit] })),
    },
    {
      name: 'svc_messages_total',
      type: 'counter',
      help: 'Messages that ended since midnight UTC, by outcome.',
      series: outcomes.map((state) => ({ labels: { state }, value: ended[state] })),
    },
    {
      name: 'svc_retries_total',
      type: 'counter',
      help: 'Attempts since midnight UTC that failed and are followed by another.',
      series: [{ value: settled.retries.get(day) ?? 0 }],
    },
  ] satisfies readonly Family[];

  // One place is kept for the series that says how many were left out.
  const room = mostSeries - 1 - fixed.reduce((sum, { series }) => sum + series.length, 0);
  const { shown, dropped } = busiest([...queues, ...keys].toSorted(busiestFirst(time)), room);
  const shownQueues = shown.filter(({ kind }) => kind === 'queue');
  const unreadSeries = unread.queues * seriesOfQueue + unread.keys;
  return expositionOf([
    ...fixed,
    ofLanes('svc_queue_waiting', 'Messages that wait in a queue.', 'queue', shownQueues, waitingIn),
    {
      name: 'svc_queue_oldest_seconds',
      type: 'gauge',
      help: 'Time since the first message in the line of a queue was published; 0 if none waits.',
      series: await oldestSeries(shownQueues, time),
    },
    ofLanes('svc_queue_paused', 'Whether a queue is paused.', 'queue', shownQueues, ({ isPaused }) =>
      isPaused ? 1 : 0,
    ),
    ofLanes(
      'svc_flow_control_waiting',
      'Deliveries that wait for a flow-control key.',
      'key',
      shown.filter(({ kind }) => kind === 'key'),
      waitingIn,
    ),
    gauge(
      'svc_series_dropped',
      'Series of queues and flow-control keys that are left out, because there are too many.',
      dropped + unreadSeries,
    ),
  ]);
}

const gauge = (name: string, help: string, value: number): Family => ({
  name,
  type: 'gauge',
  help,
  series: [{ value }],
});

const ofLanes = (
  name: string,
  help: string,
  label: string,
  lanes: readonly Lane[],
  valueOf: (lane: Lane) => number,
): Family => ({
  name,
  type: 'gauge',
  help,
  series: lanes.map((lane) => ({ labels: { [label]: lane.name }, value: valueOf(lane) })),
});

/**
 * Chooses the lanes that are shown.
 *
 * @param lanes the busiest first
 * @param room how many series fit
 */
function busiest(
  lanes: readonly Lane[],
  room: number,
): { readonly shown: readonly Lane[]; readonly dropped: number } {
  const shown: Lane[] = [];
  let [left, dropped] = [room, 0];
  for (const lane of lanes) {
    const series = lane.kind === 'queue' ? seriesOfQueue : 1;
    if (series > left) {
      dropped += series;
      continue;
    }
    left -= series;
    shown.push(lane);
  }
  return { shown, dropped };
}

/**
 * The age of each queue's first message. At most a hundred pages are read; queues that need more are left
 * out.
 */
async function oldestSeries(queues: readonly Lane[], time: number): Promise<readonly Series[]> {
  const series = new Map<string, number>();
  let pages = 0;
  const wanted = queues.filter((lane) => {
    if (!isReadForOldest(lane)) return true;
    pages += 1;
    return pages <= mostPages;
  });
  await eachOf(wanted, pagesAtOnce, async (lane) => {
    const { oldestAt } = await whatWaits(lane);
    const ageMs = oldestAt === undefined ? 0 : Math.max(0, time - oldestAt);
    series.set(lane.name, ageMs / secondMs);
  });
  return [...series].map(([queue, value]) => ({ labels: { queue }, value }));
}
