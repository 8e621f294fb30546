/** The audit trail: who changed what. */
import { auditPage, namedTokens, type auditEntry } from '../../../../lambdas/wire/accountAnswers.ts';
import type { Answer } from '../../../../lambdas/wire/answers.ts';
import { auditActions } from '../../../../lambdas/wire/auditActions.ts';
import { useAsked } from '../../api/useAsked.ts';
import { ResourceList } from '../../lists/resourceList.tsx';
import { href, type Place } from '../../place.ts';
import { countOf, Cut } from '../../ui/basics.tsx';
import { periodFields, type FilterField } from '../../ui/filters.tsx';

type Entry = Answer<typeof auditEntry>;

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
  const hasPage = screen !== undefined && isOne(subject) && !action.endsWith('.delete');
  return hasPage ? <a href={href([screen, subject])}>{shown}</a> : shown;
}

/** Actors other than named tokens. */
const actors: ReadonlyMap<string, string> = new Map([
  ['token', 'The account’s token'],
  ['readOnlyToken', 'The read-only token'],
  ['operator', 'The operator'],
  ['service', 'The service'],
]);

interface ActorProps {
  readonly of: string;
  readonly isInSentence?: boolean;
}

export function Actor({ of, isInSentence = false }: ActorProps) {
  const name = actors.get(of);
  if (name === undefined) return <code>{of}</code>;
  return <>{isInSentence ? name.replace(/^./, (first) => first.toLowerCase()) : name}</>;
}

/** The nouns for the count of a bulk operation, by the first word of its action. */
const counted: Readonly<Record<string, string>> = {
  messages: 'message',
  dlq: 'dead letter',
  runs: 'run',
  runDlq: 'run',
};

const shownAtOnce = 3;

function Changes({ of: { action, number, changes = [] } }: { readonly of: Entry }) {
  const list = (
    <ul class="changes wrapped">
      {changes.map(({ field, before, after }) => (
        <li key={field}>
          {field}: {before !== undefined && <del>{before}</del>}
          {before !== undefined && after !== undefined && ' → '}
          {after !== undefined && <ins>{after}</ins>}
        </li>
      ))}
    </ul>
  );
  return (
    <>
      {number !== undefined && countOf(number, counted[action.replace(/\..*/, '')] ?? 'thing')}
      {changes.length > shownAtOnce ? (
        <details>
          <summary>{countOf(changes.length, 'field')}</summary>
          {list}
        </details>
      ) : (
        changes.length > 0 && list
      )}
    </>
  );
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
      noMatch="No change matches these filters."
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
          head: 'Subject',
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
