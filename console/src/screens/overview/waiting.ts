/** How many messages waited at the end of each of several times, as follows from how many came and ended. */

export interface Flow {
  readonly accepted: number;
  readonly delivered: number;
  readonly failed: number;
  readonly cancelled: number;
}

const change = ({ accepted, delivered, failed, cancelled }: Flow): number =>
  accepted - delivered - failed - cancelled;

/** What is accepted is not counted exactly, and without this there might be less than nothing. */
const atLeastNone = (count: number): number => Math.max(0, count);

/** Counts from the oldest time on. Nothing waited before it. */
export function waitingFrom(flows: readonly Flow[]): readonly number[] {
  let waiting = 0;
  return flows.map((flow) => (waiting = atLeastNone(waiting + change(flow))));
}

/** Counts back from the end of the newest time, at which so many waited. */
export function waitingUntil(flows: readonly Flow[], atEnd: number): readonly number[] {
  let waiting = atEnd;
  return flows
    .toReversed()
    .map((flow) => {
      const after = waiting;
      waiting = atLeastNone(waiting - change(flow));
      return after;
    })
    .reverse();
}
