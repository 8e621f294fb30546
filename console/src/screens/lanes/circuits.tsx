/** Circuits of failing hosts. Deliveries to these hosts wait. */
import { circuits, type Answer, type circuit } from '../../../../lambdas/wire/answers.ts';
import { path } from '../../api/client.ts';
import { usePages, type Paged } from '../../api/useAsked.ts';
import { ListTable } from '../../lists/resourceList.tsx';
import { Act, sends } from '../../ui/action.tsx';
import { Card } from '../../ui/basics.tsx';

type Circuit = Answer<typeof circuit>;

export const useCircuits = (): Paged<Circuit> => usePages(circuits, { path: 'v2/circuits' }, (all) => all);

export const closes = (host: string) =>
  sends({ path: path`v2/circuits/${host}/close` }, `The circuit of “${host}” is closed.`);

export function Circuits({ of: page }: { readonly of: Paged<Circuit> }) {
  if (page.error === undefined && (page.items ?? []).length === 0) return null;
  return (
    <Card title="Hosts that are down">
      <ListTable
        list={page}
        caption="Open circuits, by host"
        keyOf={({ host }) => host}
        columns={[
          { head: 'Host', isWide: true, text: ({ host }) => host },
          { head: 'Circuit', state: ({ state }) => state },
          { head: 'Waiting', count: ({ waiting }) => waiting },
          { head: 'Failures', isExtra: true, count: ({ failures }) => failures },
          {
            head: 'Last answer',
            isWide: true,
            text: ({ lastStatus, lastError }) => lastError ?? String(lastStatus),
          },
          { head: 'Since', time: ({ openedAt }) => openedAt },
          { head: 'Next probe', time: ({ nextProbeAt }) => nextProbeAt },
        ]}
        acts={({ host }, again) => (
          <Act
            name="Close"
            kind="quiet"
            label={`Close the circuit of ${host}`}
            work={closes(host)}
            then={again}
          />
        )}
      />
    </Card>
  );
}
