/**
 * Whether this tab updates its data. The user can pause updates, and the service may be unreachable. Relative
 * times then stop, too.
 */
import { onEvent, useStateAt } from '../events.ts';

export interface Live {
  readonly isOn: boolean;
  /** The time of the last answer; undefined before the first. */
  readonly answeredAt: number | undefined;
  readonly isLost: boolean;
}

let state: Live = { isOn: true, answeredAt: undefined, isLost: false };
const event = 'svc-live';

export const live = (): Live => state;

export function changeLive(changed: Partial<Live>): void {
  state = { ...state, ...changed };
  dispatchEvent(new Event(event));
}

/** The time at which the data on screen was current: now, or when the last answer arrived. */
export const shownNow = (): number =>
  state.isOn && !state.isLost ? Date.now() : (state.answeredAt ?? Date.now());

export const onLiveChange = (tell: () => void): (() => void) => onEvent(event, tell);
export const useLive = (): Live => useStateAt(event, live);
