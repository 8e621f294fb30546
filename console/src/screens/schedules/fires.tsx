/** Explains a cron expression in words and with its next fires. The API explains it, because the API runs it. */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Answer } from '../../../../lambdas/wire/answers.ts';
import { explainedCron } from '../../../../lambdas/wire/cronAnswers.ts';
import { useAsked, type Asked } from '../../api/useAsked.ts';
import { Time } from '../../ui/time.tsx';

type Explained = Answer<typeof explainedCron>;

/** An expression is explained after this pause in typing, in milliseconds. */
const typingMs = 250;

/** Explains an expression while it is typed. The last explanation is shown until the next one arrives. */
export function useExplained(text: string): Pick<Asked<Explained>, 'answer' | 'error'> {
  const expression = text.trim();
  const [settled, setSettled] = useState(expression);
  useEffect(() => {
    if (expression === settled) return undefined;
    const timer = setTimeout(() => {
      setSettled(expression);
    }, typingMs);
    return () => {
      clearTimeout(timer);
    };
  }, [expression, settled]);
  const { answer, error } = useAsked(
    explainedCron,
    settled === '' ? undefined : { path: 'v2/cron', query: { expression: settled } },
  );
  const last = useRef<Explained | undefined>(undefined);
  if (answer !== undefined || error !== undefined || settled === '') last.current = answer;
  return { answer: last.current, error };
}

/** Time zones for which browsers and the service use an old name. */
const todaysNames: ReadonlyMap<string, string> = new Map([
  ['Africa/Asmera', 'Africa/Asmara'],
  ['America/Buenos_Aires', 'America/Argentina/Buenos_Aires'],
  ['America/Godthab', 'America/Nuuk'],
  ['Asia/Calcutta', 'Asia/Kolkata'],
  ['Asia/Katmandu', 'Asia/Kathmandu'],
  ['Asia/Rangoon', 'Asia/Yangon'],
  ['Asia/Saigon', 'Asia/Ho_Chi_Minh'],
  ['Atlantic/Faeroe', 'Atlantic/Faroe'],
  ['Europe/Kiev', 'Europe/Kyiv'],
]);

export const nameOfZone = (zone: string): string => todaysNames.get(zone) ?? zone;

export const viewersZone = (): string => nameOfZone(new Intl.DateTimeFormat().resolvedOptions().timeZone);

const dayAndTime = (at: number, timeZone: string): string =>
  new Date(at).toLocaleString(undefined, {
    weekday: 'short',
    day: 'numeric',
    month: 'short',
    year: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    timeZone,
  });

export function NextFires({ of: { description, nextFires, ...of } }: { readonly of: Explained }) {
  const timezone = nameOfZone(of.timezone);
  const zone = viewersZone();
  return (
    <>
      <p role="status">
        {description} <span class="hint">Times of {timezone}</span>
      </p>
      <h3>Next fires in your time ({zone})</h3>
      <ol class="fires">
        {nextFires.map((at) => (
          <li key={at}>
            {dayAndTime(at, zone)}
            {zone !== timezone && (
              <span>
                {dayAndTime(at, timezone)} <span class="hint">{timezone}</span>
              </span>
            )}
            <span class="hint">
              <Time at={at} />
            </span>
          </li>
        ))}
      </ol>
    </>
  );
}
