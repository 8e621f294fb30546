/** The audit trail: who changed what. */
import { auditPage, namedTokens } from '../../../../lambdas/wire/accountAnswers.ts';
import { auditActions } from '../../../../lambdas/wire/auditActions.ts';
import { useAsked, usePages } from '../../api/useAsked.ts';
import { Export } from '../../lists/export.tsx';
import { href, type Place } from '../../place.ts';
import { Cut, Empty, Page } from '../../ui/basics.tsx';
import { FilterBar, filtersOf, isFiltered, periodFields, type FilterField } from '../../ui/filters.tsx';
import { Listed, Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { Actor } from './actors.tsx';
import { Changes } from './changes.tsx';

const fields: readonly FilterField[] = [
  {
    name: 'action',
    label: 'Action',
    options: [['', 'All'], ...auditActions.map((action) => [action, action] as const)],
    isMain: true,
  },
  { name: 'actor', label: 'Who', placeholder: 'operator', isMain: true },
  { name: 'subject', label: 'What', isMain: true },
  ...periodFields,
];

/** The screen for the subject of a change, by the action's first word, with two parts if the subject has its own page. */
const screens: Readonly<Record<string, string>> = {
  schedule: 'schedules',
  urlGroup: 'url-groups',
  messages: 'messages',
  message: 'messages',
  dlq: 'dead-letters',
  runs: 'runs',
};

/** If a change affected many things, its subject is the filters that selected them. */
const isOne = (subject: string): boolean => !/[= ]/.test(subject);

/** The changed thing, with a link to its page. */
function Subject({ action, subject }: { readonly action: string; readonly subject: string }) {
  const screen = screens[action.replace(/\..*/, '')];
  // A deleted thing has no page.
  if (screen === undefined || !isOne(subject) || action.endsWith('.delete')) {
    return <Cut text={subject} isCode />;
  }
  return (
    <a href={href([screen, subject])}>
      <Cut text={subject} isCode />
    </a>
  );
}

export function Audit({ place }: { readonly place: Place }) {
  const list = usePages(
    auditPage,
    { path: 'v2/audit', query: filtersOf(place, fields) },
    ({ entries }) => entries,
  );
  const { answer: tokens = [] } = useAsked(namedTokens, { path: 'v2/tokens' });
  const names = new Map(tokens.map(({ id, name }) => [id, name]));
  return (
    <Page title="Audit">
      <p class="hint">
        Changes of the last 90 days, and who made them. Publishes are in the list of messages.
      </p>
      <FilterBar
        place={place}
        fields={fields}
        file={
          <Export
            name="audit"
            shape={auditPage}
            request={{ path: 'v2/audit', query: filtersOf(place, fields) }}
            rowsOf={({ entries }) => entries}
          />
        }
      />
      <Listed
        list={list}
        empty={<Empty title={isFiltered(place, fields) ? 'Nothing matches.' : 'There are no changes yet.'} />}
      >
        {(entries) => (
          <Table
            caption="Changes, the newest first"
            rows={entries}
            keyOf={({ time, actor, action, subject = '' }) => [time, actor, action, subject].join(' ')}
            columns={[
              { head: 'When', cell: ({ time }) => <Time at={time} /> },
              { head: 'Who', cell: ({ actor }) => names.get(actor) ?? <Actor of={actor} /> },
              {
                head: 'Action',
                cell: ({ action, count }) =>
                  count === undefined ? (
                    <code>{action}</code>
                  ) : (
                    <>
                      <code>{action}</code> {count} times
                    </>
                  ),
              },
              {
                head: 'What',
                isWide: true,
                cell: (entry) => (
                  <>
                    {entry.subject && <Subject action={entry.action} subject={entry.subject} />}
                    <Changes of={entry} />
                  </>
                ),
              },
              { head: 'From', cell: ({ address }) => address },
            ]}
          />
        )}
      </Listed>
    </Page>
  );
}
