/** Circuits of failing hosts. Deliveries to these hosts wait. */
import { circuits, type Answer, type circuit } from '../../../../lambdas/wire/answers.ts';
import { useMayWrite } from '../../access.ts';
import { path } from '../../api/client.ts';
import { usePages, type Paged } from '../../api/useAsked.ts';
import { Act } from '../../ui/act.tsx';
import { Card, count, Cut, State } from '../../ui/basics.tsx';
import { Listed, Table, type Column } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';

type Circuit = Answer<typeof circuit>;

export const useCircuits = (): Paged<Circuit> => usePages(circuits, { path: 'v2/circuits' }, (all) => all);

export function Circuits({ of: page }: { readonly of: Paged<Circuit> }) {
  const mayWrite = useMayWrite();
  if (page.error === undefined && (page.items ?? []).length === 0) return null;
  const actions: Column<Circuit> = {
    head: 'Actions',
    isNumber: true,
    cell: ({ host }) => (
      <Act
        kind="quiet"
        label={`Close the circuit of ${host}`}
        request={{ path: path`v2/circuits/${host}/close` }}
        said={`The circuit of “${host}” is closed.`}
        then={page.again}
      >
        Close
      </Act>
    ),
  };
  return (
    <Card title="Hosts that are down">
      <Listed list={page} empty={null}>
        {(all) => (
          <Table
            caption="Open circuits, by host"
            rows={all}
            keyOf={({ host }) => host}
            columns={[
              { head: 'Host', isWide: true, cell: ({ host }) => <Cut text={host} /> },
              { head: 'Circuit', cell: ({ state }) => <State state={state} /> },
              { head: 'Waiting', isNumber: true, cell: ({ waiting }) => count(waiting) },
              { head: 'Failures', isNumber: true, isExtra: true, cell: ({ failures }) => count(failures) },
              {
                head: 'Last answer',
                isWide: true,
                cell: ({ lastStatus, lastError }) => <Cut text={lastError ?? String(lastStatus)} />,
              },
              {
                head: 'Since',
                cell: ({ openedAt }) => (openedAt === undefined ? '–' : <Time at={openedAt} />),
              },
              {
                head: 'Next probe',
                cell: ({ nextProbeAt }) => (nextProbeAt === undefined ? '–' : <Time at={nextProbeAt} />),
              },
              ...(mayWrite ? [actions] : []),
            ]}
          />
        )}
      </Listed>
    </Card>
  );
}
