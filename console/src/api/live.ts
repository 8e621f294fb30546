/**
 * Whether this tab keeps its data fresh: the user may pause updates, and the service may be unreachable. Relative times then
 * stop too.
 */
import { useEffect, useState } from 'preact/hooks';

export interface Live {
  /** Whether lists are reloaded automatically, as the user chose. */
  readonly isOn: boolean;
  /** The time of the last answer, in Unix milliseconds; undefined before the first. */
  readonly answeredAt: number | undefined;
  /** Whether the last request had no answer. */
  readonly isLost: boolean;
}

let state: Live = { isOn: true, answeredAt: undefined, isLost: false };
const listeners = new Set<() => void>();

const change = (changed: Partial<Live>): void => {
  state = { ...state, ...changed };
  for (const tell of listeners) tell();
};

export const live = (): Live => state;

export const noteAnswer = (): void => {
  change({ answeredAt: Date.now(), isLost: false });
};
export const noteSilence = (): void => {
  change({ isLost: true });
};
export const setLive = (isOn: boolean): void => {
  change({ isOn });
};

/** The time, in Unix milliseconds, at which the shown data was current: now, or the last answer's time. */
export const shownNow = (): number =>
  state.isOn && !state.isLost ? Date.now() : (state.answeredAt ?? Date.now());

export function onLiveChange(tell: () => void): () => void {
  listeners.add(tell);
  return () => {
    listeners.delete(tell);
  };
}

export function useLive(): Live {
  const [shown, setShown] = useState(state);
  useEffect(() => {
    setShown(state);
    return onLiveChange(() => {
      setShown(state);
    });
  }, []);
  return shown;
}
