/** The audit trail: who changed what. */
import { auditPage, namedTokens } from '../../../../lambdas/wire/accountAnswers.ts';
import { auditActions } from '../../../../lambdas/wire/auditActions.ts';
import { useAsked, usePages } from '../../api/useAsked.ts';
import { ResourceList } from '../../lists/resourceList.tsx';
import { href, type Place } from '../../place.ts';
import { Card, Cut } from '../../ui/basics.tsx';
import { periodFields, type FilterField } from '../../ui/filters.tsx';
import { Listed, Table, type Column } from '../../ui/table.tsx';
import { Actor, Changes, type Entry } from './parts.tsx';

const fields: readonly FilterField[] = [
  {
    name: 'action',
    label: 'Action',
    options: [['', 'All'], ...auditActions.map((action) => [action, action] as const)],
    isMain: true,
  },
  { name: 'actor', label: 'Who', placeholder: 'operator', isMain: true },
  { name: 'subject', label: 'Subject', isMain: true },
  ...periodFields,
];

/**
 * The screen for the subject of a change, by the first word of the action. Two parts if the subject has a
 * page.
 */
const screens: Readonly<Record<string, string>> = {
  schedule: 'schedules',
  urlGroup: 'url-groups',
  messages: 'messages',
  message: 'messages',
  dlq: 'dead-letters',
  runs: 'runs',
};

/** Whether a change affected one thing. Otherwise its subject is a list of filters. */
const isOne = (subject: string): boolean => !/^blk_|[= ]/.test(subject);

function Subject({ action, subject }: { readonly action: string; readonly subject: string }) {
  const screen = screens[action.replace(/\..*/, '')];
  const shown = <Cut text={subject} isCode />;
  const hasPage = screen !== undefined && isOne(subject) && !action.endsWith('.delete');
  return hasPage ? <a href={href([screen, subject])}>{shown}</a> : shown;
}

/** The columns of the list. @param isOfOne whether all changes are of one thing */
function useColumns(isOfOne: boolean): readonly Column<Entry>[] {
  const { answer: tokens = [] } = useAsked(namedTokens, { path: 'v2/tokens' });
  const names = new Map(tokens.map(({ id, name }) => [id, name]));
  return [
    { head: 'When', time: ({ time }) => time },
    { head: 'Who', cell: ({ actor }) => names.get(actor) ?? <Actor of={actor} /> },
    {
      head: 'Action',
      cell: ({ action, count }) => (
        <>
          <code>{action}</code>
          {count !== undefined && ` ${count} times`}
        </>
      ),
    },
    {
      head: 'Subject',
      isWide: true,
      cell: (entry) => (
        <>
          {!isOfOne && entry.subject && <Subject action={entry.action} subject={entry.subject} />}
          <Changes of={entry} />
        </>
      ),
    },
    { head: 'From', cell: ({ address }) => address },
  ];
}

const keyOf = ({ time, actor, action, subject = '' }: Entry): string =>
  [time, actor, action, subject].join(' ');

/** @param kind the first word of the actions, because things of different kinds may have the same name */
export function TrailCard({ of: subject, kind }: { readonly of: string; readonly kind: string }) {
  const action = auditActions.filter((one) => one.startsWith(`${kind}.`)).join(',');
  const list = usePages(
    auditPage,
    { path: 'v2/audit', query: { subject, action, count: 20 } },
    ({ entries }) => entries,
  );
  const columns = useColumns(true);
  return (
    <Card title="Who changed it">
      <Listed list={list} empty={<p class="hint">There were no changes in the last 90 days.</p>}>
        {(rows) => <Table caption="Changes, the newest first" rows={rows} keyOf={keyOf} columns={columns} />}
      </Listed>
    </Card>
  );
}

export const Audit = ({ place }: { readonly place: Place }) => (
  <ResourceList
    title="Audit"
    place={place}
    fields={fields}
    shape={auditPage}
    path="v2/audit"
    rowsOf={({ entries }) => entries}
    file="audit"
    noMatch="No change matches these filters."
    empty={['There are no changes yet.']}
    caption="Changes, the newest first"
    keyOf={keyOf}
    columns={useColumns(false)}
  >
    <p class="hint">Changes of the last 90 days, and who made them. Publishes are in the list of messages.</p>
  </ResourceList>
);
