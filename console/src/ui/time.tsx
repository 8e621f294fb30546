/** Times in the viewer's zone: how far away they are, and exactly when on hover. */
import { useEffect, useState } from 'preact/hooks';

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

/** A moment in Unix milliseconds, exactly, in the viewer's zone. */
export const exactTime = (ms: number): string => exact.format(ms);
/** The same without its year and its zone. */
export const shortTime = (ms: number): string => short.format(ms);

/** Beyond this, `Date` and its formats have no answer: a moment that far away is a mistake of the service's clock. */
const latest = 8.64e15;

const secondMs = 1_000;
const steps = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', secondMs],
] as const;

/** A length of time in its two largest units: `1 d 2 h`, `45 s`, `120 ms`. */
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

/** How far a moment is away: `12 s ago`, `in 3 min`. */
export function away(ms: number, from: number): string {
  const distance = Math.abs(from - ms);
  if (distance < secondMs) return 'now';
  const [unit, length] = steps.find(([, length]) => distance >= length) ?? ['s', secondMs];
  const text = `${Math.floor(distance / length)} ${unit}`;
  return ms > from ? `in ${text}` : `${text} ago`;
}

/** The present, every second: all times of a page change together. */
const listeners = new Set<(now: number) => void>();
let ticking: ReturnType<typeof setInterval> | undefined;

export function useNow(): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    listeners.add(setNow);
    ticking ??= setInterval(() => {
      const time = Date.now();
      for (const tell of listeners) tell(time);
    }, secondMs);
    return () => {
      listeners.delete(setNow);
      if (listeners.size === 0) {
        clearInterval(ticking);
        ticking = undefined;
      }
    };
  }, []);
  return now;
}

/** @param at Unix milliseconds; NaN for never */
export function Time({ at, isExact = false }: { readonly at: number; readonly isExact?: boolean }) {
  const now = useNow();
  if (!(Math.abs(at) <= latest)) return <span>never</span>;
  return (
    <time dateTime={new Date(at).toISOString()} title={exactTime(at)}>
      {isExact ? shortTime(at) : away(at, now)}
    </time>
  );
}
