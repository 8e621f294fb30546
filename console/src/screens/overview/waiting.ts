/** Calculates how many messages waited at the end of each period, from how many were accepted and ended. */

export interface Flow {
  readonly accepted: number;
  readonly delivered?: number | undefined;
  readonly failed?: number | undefined;
  readonly cancelled?: number | undefined;
}

/** Consecutive periods, oldest first. */
export interface Flows {
  readonly days: readonly (Flow & { readonly day: string })[];
  /** Beginnings of the hours. */
  readonly hours: readonly (Flow & { readonly hour: number })[];
}

const change = ({ accepted, delivered = 0, failed = 0, cancelled = 0 }: Flow): number =>
  accepted - delivered - failed - cancelled;

function waitingFrom(flows: readonly Flow[], before: number): readonly number[] {
  let waiting = before;
  // Counts of accepted messages are not exact, so the result could be negative.
  return flows.map((flow) => (waiting = Math.max(0, waiting + change(flow))));
}

/** At the end of each day, assuming that nothing waited before the first. */
export const waitingByDay = ({ days }: Flows): readonly number[] => waitingFrom(days, 0);

/** At the end of each hour. The first hour may be within a day whose earlier hours are unknown. */
export function waitingByHour(flows: Flows): readonly number[] {
  const dayOf = (hour: number): string => new Date(hour).toISOString().slice(0, 10);
  const { days, hours } = flows;
  const first = dayOf(hours[0]?.hour ?? 0);
  const atItsEnd = waitingByDay(flows)[days.findIndex(({ day }) => day === first)] ?? 0;
  const ofItsHours = hours.filter(({ hour }) => dayOf(hour) === first);
  const before = ofItsHours.reduce((waiting, flow) => waiting - change(flow), atItsEnd);
  return waitingFrom(hours, Math.max(0, before));
}
