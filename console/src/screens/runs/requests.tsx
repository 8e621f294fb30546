import { href } from '../../place.ts';
import { Card, count, Cut, Visible } from '../../ui/basics.tsx';
import { Table } from '../../ui/table.tsx';
import { duration, Time } from '../../ui/time.tsx';
import { statusOfRun } from './failure.ts';
import type { Run } from './timeline.ts';

type Request = NonNullable<Run['requests']>[number];

const mostShown = 50;

export const Refused = ({ of: { code, message } }: { readonly of: NonNullable<Request['refusal']> }) => (
  <span class="wrong" title={message}>
    <code>{code}</code>: <Visible text={message} />
  </span>
);

function Submitted({ of: { submitted, returned, refusal, error } }: { readonly of: Request }) {
  if (refusal !== undefined) return <Refused of={refusal} />;
  const all = [...submitted, ...(returned === true ? ['the end of the run'] : [])];
  if (all.length > 0) return <Cut text={all.join(', ')} />;
  return <span class={error === undefined ? undefined : 'wrong'}>{error ?? 'nothing'}</span>;
}

export function Requests({ of }: { readonly of: readonly Request[] }) {
  if (of.length === 0) return null;
  // The API lists them by their ends, and the next one may end before the one that caused it.
  const shown = of.toSorted((one, other) => one.startedAt - other.startedAt).slice(-mostShown);
  return (
    <Card title="Requests to the endpoint">
      <Table
        caption="Requests to the endpoint, the oldest first"
        rows={shown}
        keyOf={({ messageId, retried }) => `${messageId} ${retried}`}
        columns={[
          {
            head: 'Sent',
            cell: ({ messageId, startedAt }) => (
              <a href={href(['messages', messageId])}>
                <Time at={startedAt} isExact />
              </a>
            ),
          },
          { head: 'Attempt', isNumber: true, cell: ({ retried }) => retried + 1 },
          {
            head: 'Answer',
            isNumber: true,
            cell: ({ status, error }) => (
              <span class={error === undefined ? undefined : 'wrong'}>{statusOfRun(status)}</span>
            ),
          },
          {
            head: 'Duration',
            isNumber: true,
            cell: ({ startedAt, endedAt }) => duration(endedAt - startedAt),
          },
          { head: 'Submitted', isWide: true, cell: (one) => <Submitted of={one} /> },
        ]}
      />
      {of.length > shown.length && (
        <p class="hint">
          The newest {count(shown.length)} of {count(of.length)}.
        </p>
      )}
    </Card>
  );
}
