/** How many messages waited at the end of each of several times, as follows from how many came and ended. */

export interface Flow {
  readonly accepted: number;
  readonly delivered: number;
  readonly failed: number;
  readonly cancelled: number;
}

/** Times that follow one another, the oldest first. */
export interface Flows {
  readonly days: readonly (Flow & { readonly day: string })[];
  /** Their beginnings, in Unix milliseconds. */
  readonly hours: readonly (Flow & { readonly hour: number })[];
}

const change = ({ accepted, delivered, failed, cancelled }: Flow): number =>
  accepted - delivered - failed - cancelled;

/** @param before how many waited when the first time began */
function waitingFrom(flows: readonly Flow[], before: number): readonly number[] {
  let waiting = before;
  // What is accepted is not counted exactly, and without this there might be less than nothing.
  return flows.map((flow) => (waiting = Math.max(0, waiting + change(flow))));
}

/** By the end of each day. Nothing counts as waiting before the first. */
export const waitingByDay = ({ days }: Flows): readonly number[] => waitingFrom(days, 0);

/** By the end of each hour. The first is one of a day's, of which those before it are not known one by one. */
export function waitingByHour(flows: Flows): readonly number[] {
  const dayOf = (hour: number): string => new Date(hour).toISOString().slice(0, 10);
  const { days, hours } = flows;
  const first = dayOf(hours[0]?.hour ?? 0);
  const atItsEnd = waitingByDay(flows)[days.findIndex(({ day }) => day === first)] ?? 0;
  const ofItsHours = hours.filter(({ hour }) => dayOf(hour) === first);
  const before = ofItsHours.reduce((waiting, flow) => waiting - change(flow), atItsEnd);
  return waitingFrom(hours, Math.max(0, before));
}
