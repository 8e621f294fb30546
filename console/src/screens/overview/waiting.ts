/** Computes how many messages waited at the end of each period from the numbers accepted and ended. */

export interface Flow {
  readonly accepted: number;
  readonly delivered?: number | undefined;
  readonly failed?: number | undefined;
  readonly cancelled?: number | undefined;
}

/** Consecutive periods, oldest first. */
export interface Flows {
  readonly days: readonly (Flow & { readonly day: string })[];
  /** Beginnings of the hours, in Unix milliseconds. */
  readonly hours: readonly (Flow & { readonly hour: number })[];
}

const change = ({ accepted, delivered = 0, failed = 0, cancelled = 0 }: Flow): number =>
  accepted - delivered - failed - cancelled;

function waitingFrom(flows: readonly Flow[], before: number): readonly number[] {
  let waiting = before;
  // The count of accepted messages is not exact, so the result could be negative.
  return flows.map((flow) => (waiting = Math.max(0, waiting + change(flow))));
}

/** The numbers at the end of each day. Assumes that nothing waited before the first. */
export const waitingByDay = ({ days }: Flows): readonly number[] => waitingFrom(days, 0);

/** The numbers at the end of each hour. The first hour may be in the middle of a day, whose earlier hours are not known. */
export function waitingByHour(flows: Flows): readonly number[] {
  const dayOf = (hour: number): string => new Date(hour).toISOString().slice(0, 10);
  const { days, hours } = flows;
  const first = dayOf(hours[0]?.hour ?? 0);
  const atItsEnd = waitingByDay(flows)[days.findIndex(({ day }) => day === first)] ?? 0;
  const ofItsHours = hours.filter(({ hour }) => dayOf(hour) === first);
  const before = ofItsHours.reduce((waiting, flow) => waiting - change(flow), atItsEnd);
  return waitingFrom(hours, Math.max(0, before));
}
