/**
 * Whether this tab follows the service: the user may stop that, and the service may be out of reach. Times that are shown relative
 * to the present stand still then, because what they stand beside does.
 */
import { useEffect, useState } from 'preact/hooks';

export interface Live {
  /** Whether the user wants lists to be loaded again by themselves. */
  readonly isOn: boolean;
  /** Unix milliseconds of the last answer; undefined before the first. */
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

/** The moment, in Unix milliseconds, that what is shown belongs to: the present, or the last answer's. */
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
