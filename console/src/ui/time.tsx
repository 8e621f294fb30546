/** Times in the viewer's zone: how far away they are, and exactly when on hover. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { shownNow } from '../api/live.ts';

const exact = new Intl.DateTimeFormat(undefined, {
  dateStyle: 'medium',
  timeStyle: 'long',
});
const short = new Intl.DateTimeFormat(undefined, {
  month: 'short',
  day: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  hourCycle: 'h23',
});

const toMinute = new Intl.DateTimeFormat(undefined, {
  month: 'short',
  day: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  hourCycle: 'h23',
});

/** A moment in Unix milliseconds, exactly, in the viewer's zone. */
export const exactTime = (ms: number): string => exact.format(ms);
/** With milliseconds, as logs have them. */
const toMillisecond = new Intl.DateTimeFormat(undefined, {
  year: 'numeric',
  month: 'short',
  day: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  fractionalSecondDigits: 3,
  hourCycle: 'h23',
  timeZoneName: 'short',
});

/** The moment to the millisecond, in UTC and in the viewer's zone: one line each. */
const inBothZones = (ms: number): string =>
  `${new Date(ms).toISOString().replace('T', ' ').replace('Z', ' UTC')}\n${toMillisecond.format(ms)}`;

/** The moment without its year and its zone. */
const shortTime = (ms: number): string => short.format(ms);

/** The moment to the minute, without its year and its zone. */
export const timeToMinute = (ms: number): string => toMinute.format(ms);

/** The limit of `Date` and its formats: a later moment is an error of the service's clock. */
const latest = 8.64e15;

const ofDay = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });
const dayMs = 86_400_000;

/** The moment to the minute in a sentence: its time of day, and its day as well where it is not within a day. */
export const clockTime = (ms: number): string =>
  Math.abs(shownNow() - ms) < dayMs / 2 ? ofDay.format(ms) : timeToMinute(ms);

const secondMs = 1_000;
const steps = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', secondMs],
] as const;

/** Formats a length of time, the same everywhere, in its two largest units: `1 d 2 h`, `45 s`, `120 ms`. */
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

/** Formats the distance of a moment: `12 s ago`, `in 3 min`. */
export function away(ms: number, from: number): string {
  const distance = Math.abs(from - ms);
  if (distance < secondMs) return 'now';
  const [unit, length] = steps.find(([, length]) => distance >= length) ?? ['s', secondMs];
  const text = `${Math.floor(distance / length)} ${unit}`;
  return ms > from ? `in ${text}` : `${text} ago`;
}

/** Functions that get the present every second: all times of a page change together. */
const listeners = new Set<(now: number) => void>();
let ticking: ReturnType<typeof setInterval> | undefined;

/**
 * A value that follows from the present, in Unix milliseconds. Only changed values are drawn again: a page may have a thousand
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

/** The present in Unix milliseconds, every second; the last answer's moment while the page does not follow the service. */
export const useNow = (): number => useOfNow((now) => now);

/** @param at Unix milliseconds; NaN for never */
export function Time({ at, isExact = false }: { readonly at: number; readonly isExact?: boolean }) {
  const isKnown = Math.abs(at) <= latest;
  const text = useOfNow((now) => (isKnown ? (isExact ? shortTime(at) : away(at, now)) : 'never'));
  if (!isKnown) return <span>{text}</span>;
  return (
    <time dateTime={new Date(at).toISOString()} title={inBothZones(at)}>
      {text}
    </time>
  );
}
