/** Computes how many messages waited at the end of each of several periods from the numbers that came and ended. */

export interface Flow {
  readonly accepted: number;
  readonly delivered: number;
  readonly failed: number;
  readonly cancelled: number;
}

/** Consecutive periods, the oldest first. */
export interface Flows {
  readonly days: readonly (Flow & { readonly day: string })[];
  /** Their beginnings, in Unix milliseconds. */
  readonly hours: readonly (Flow & { readonly hour: number })[];
}

const change = ({ accepted, delivered, failed, cancelled }: Flow): number =>
  accepted - delivered - failed - cancelled;

/** @param before the number that waited when the first period began */
function waitingFrom(flows: readonly Flow[], before: number): readonly number[] {
  let waiting = before;
  // The count of accepted messages is not exact, so without this the number might be negative.
  return flows.map((flow) => (waiting = Math.max(0, waiting + change(flow))));
}

/** The numbers at the end of each day. Nothing counts as waiting before the first. */
export const waitingByDay = ({ days }: Flows): readonly number[] => waitingFrom(days, 0);

/** The numbers at the end of each hour. The first hour is one of a day, whose earlier hours are not known one by one. */
export function waitingByHour(flows: Flows): readonly number[] {
  const dayOf = (hour: number): string => new Date(hour).toISOString().slice(0, 10);
  const { days, hours } = flows;
  const first = dayOf(hours[0]?.hour ?? 0);
  const atItsEnd = waitingByDay(flows)[days.findIndex(({ day }) => day === first)] ?? 0;
  const ofItsHours = hours.filter(({ hour }) => dayOf(hour) === first);
  const before = ofItsHours.reduce((waiting, flow) => waiting - change(flow), atItsEnd);
  return waitingFrom(hours, Math.max(0, before));
}
