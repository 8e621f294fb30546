/** What a cron expression means: in words, and its next fires. */
import { fires, parseCron, type Cron } from '../../../../lambdas/domain/schedule/cron.ts';
import { sentenceOf } from '../../api/client.ts';
import { Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { inWords } from './cronWords.ts';

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

export function NextFires({ cron }: { readonly cron: Cron }) {
  const { timezone } = cron;
  const next = fires(cron, Date.now());
  const times = Array.from({ length: shown }, () => next.next().value ?? []).flat();
  const zones = [...new Set([viewersZone(), timezone])];
  return (
    <>
      <p role="status">
        {inWords(cron.fields)} <span class="hint">{timezone}</span>
      </p>
      <Table
        caption="The next fires"
        rows={times}
        keyOf={String}
        columns={[
          { head: 'Next fires', cell: (at) => <Time at={at} /> },
          ...zones.map((timeZone, index) => ({
            head: index === 0 ? `Your time (${timeZone})` : timeZone,
            cell: (at: number) =>
              new Date(at).toLocaleString(undefined, {
                weekday: 'short',
                day: 'numeric',
                month: 'short',
                year: 'numeric',
                hour: '2-digit',
                minute: '2-digit',
                timeZone,
              }),
          })),
        ]}
      />
    </>
  );
}
