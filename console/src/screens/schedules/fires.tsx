/** What a cron expression means: in words, and its next fires. */
import { fires, parseCron, type Cron } from '../../../../lambdas/domain/schedule/cron.ts';
import { inWords } from '../../../../lambdas/domain/schedule/cronWords.ts';
import { sentenceOf } from '../../api/client.ts';
import { Time } from '../../ui/time.tsx';

/** Reads an expression as the service does; a text says what is wrong with it. */
export function readCron(text: string): Cron | string {
  try {
    return parseCron('The expression', text);
  } catch (error) {
    return sentenceOf(error);
  }
}

export const viewersZone = (): string => new Intl.DateTimeFormat().resolvedOptions().timeZone;

const shown = 5;

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

export function NextFires({ cron }: { readonly cron: Cron }) {
  const { timezone } = cron;
  const zone = viewersZone();
  const next = fires(cron, Date.now());
  const times = Array.from({ length: shown }, () => next.next().value ?? []).flat();
  return (
    <>
      <p role="status">
        {inWords(cron.fields)} <span class="hint">Times of {timezone}</span>
      </p>
      <h3>Next fires in your time ({zone})</h3>
      <ol class="fires">
        {times.map((at) => (
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
