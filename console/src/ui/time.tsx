/** Times in the user's time zone: how long ago, and the exact time as a tooltip. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { shownNow } from '../api/live.ts';

const exact = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'long' });
const clock = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const;
const day = { month: 'short', day: 'numeric' } as const;
const ofDay = new Intl.DateTimeFormat(undefined, clock);
const toMinute = new Intl.DateTimeFormat(undefined, { ...day, ...clock });
const short = new Intl.DateTimeFormat(undefined, { ...day, ...clock, second: '2-digit' });
/** With milliseconds, as in logs. */
const toMillisecond = new Intl.DateTimeFormat(undefined, {
  ...day,
  ...clock,
  year: 'numeric',
  second: '2-digit',
  fractionalSecondDigits: 3,
  timeZoneName: 'short',
});

export const exactTime = (ms: number): string => exact.format(ms);

const inBothZones = (ms: number): string =>
  `${new Date(ms).toISOString().replace('T', ' ').replace('Z', ' UTC')}\n${toMillisecond.format(ms)}`;

export const timeToMinute = (ms: number): string => toMinute.format(ms);

/** The latest time that `Date` can format. Later ones are errors of the service. */
const latest = 8.64e15;

const dayMs = 86_400_000;

/** The time of day in minutes, with the day if that is more than twelve hours away. */
export const clockTime = (ms: number): string =>
  Math.abs(shownNow() - ms) < dayMs / 2 ? ofDay.format(ms) : timeToMinute(ms);

const secondMs = 1_000;
const steps = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', secondMs],
] as const;

/** Formats a duration with its two largest units: `1 d 2 h`, `45 s`, `120 ms`. */
export function duration(ms: number): string {
  if (ms < secondMs) return `${Math.round(ms)} ms`;
  if (ms < 10 * secondMs && ms % secondMs !== 0) return `${(ms / secondMs).toFixed(1)} s`;
  let rest = ms;
  const parts = steps.flatMap(([unit, length]) => {
    const whole = Math.floor(rest / length);
    rest -= whole * length;
    return whole === 0 ? [] : [`${whole} ${unit}`];
  });
  return parts.slice(0, 2).join(' ');
}

/** `–` if it is unknown. */
export const inMs = (ms: number | undefined): string => (ms === undefined ? '–' : duration(ms));

export function away(ms: number, from: number): string {
  const distance = Math.abs(from - ms);
  if (distance < secondMs) return 'now';
  const [unit, length] = steps.find(([, length]) => distance >= length) ?? ['s', secondMs];
  const text = `${Math.floor(distance / length)} ${unit}`;
  return ms > from ? `in ${text}` : `${text} ago`;
}

/** Run every second, so that all times on a page change together. */
const listeners = new Set<(now: number) => void>();
let ticking: ReturnType<typeof setInterval> | undefined;

/**
 * A value that depends on the current time. Drawn only when it changes, because a page may have a thousand
 * times.
 */
function useOfNow<T extends string | number>(at: (now: number) => T): T {
  const [, setValue] = useState(() => at(shownNow()));
  const latest = useRef(at);
  latest.current = at;
  useEffect(() => {
    const tell = (now: number): void => {
      setValue(latest.current(now));
    };
    listeners.add(tell);
    ticking ??= setInterval(() => {
      const now = shownNow();
      for (const tell of listeners) tell(now);
    }, secondMs);
    return () => {
      listeners.delete(tell);
      if (listeners.size > 0) return;
      clearInterval(ticking);
      ticking = undefined;
    };
  }, []);
  return at(shownNow());
}

/** The current time, every second; while updates are paused, the time of the last answer. */
export const useNow = (): number => useOfNow((now) => now);

/** The current time, even while updates are paused. */
export const useClock = (): number => useOfNow(() => Date.now());

/** @param at NaN for "never" */
export function Time({ at, isExact = false }: { readonly at: number; readonly isExact?: boolean }) {
  const isKnown = Math.abs(at) <= latest;
  const text = useOfNow((now) => (isKnown ? (isExact ? short.format(at) : away(at, now)) : 'never'));
  if (!isKnown) return <span>{text}</span>;
  return (
    <time dateTime={new Date(at).toISOString()} title={inBothZones(at)}>
      {text}
    </time>
  );
}

/** An exact time in a list of details; nothing if the time is unknown. */
export const exactly = (at: number | undefined) => at && <Time at={at} isExact />;
