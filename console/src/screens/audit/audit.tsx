/** The audit trail: who changed what. */
import { auditPage, namedTokens } from '../../../../lambdas/wire/accountAnswers.ts';
import { auditActions } from '../../../../lambdas/wire/auditActions.ts';
import { useAsked } from '../../api/useAsked.ts';
import { ResourceList } from '../../lists/resourceList.tsx';
import { href, type Place } from '../../place.ts';
import { Cut } from '../../ui/basics.tsx';
import { periodFields, type FilterField } from '../../ui/filters.tsx';
import { Actor, Changes } from './parts.tsx';

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
const isOne = (subject: string): boolean => !/^blk_|[= ]/.test(subject);

function Subject({ action, subject }: { readonly action: string; readonly subject: string }) {
  const screen = screens[action.replace(/\..*/, '')];
  const shown = <Cut text={subject} isCode />;
  // A deleted thing has no page.
  const hasPage = screen !== undefined && isOne(subject) && !action.endsWith('.delete');
  return hasPage ? <a href={href([screen, subject])}>{shown}</a> : shown;
}

export function Audit({ place }: { readonly place: Place }) {
  const { answer: tokens = [] } = useAsked(namedTokens, { path: 'v2/tokens' });
  const names = new Map(tokens.map(({ id, name }) => [id, name]));
  return (
    <ResourceList
      title="Audit"
      place={place}
      fields={fields}
      shape={auditPage}
      path="v2/audit"
      rowsOf={({ entries }) => entries}
      file="audit"
      noMatch="Nothing matches."
      empty={['There are no changes yet.']}
      caption="Changes, the newest first"
      keyOf={({ time, actor, action, subject = '' }) => [time, actor, action, subject].join(' ')}
      columns={[
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
    >
      <p class="hint">
        Changes of the last 90 days, and who made them. Publishes are in the list of messages.
      </p>
    </ResourceList>
  );
}
