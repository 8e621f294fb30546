import type { auditEntry } from '../../../../lambdas/wire/accountAnswers.ts';
import type { Answer } from '../../../../lambdas/wire/answers.ts';
import { countOf } from '../../ui/basics.tsx';

type Entry = Answer<typeof auditEntry>;
type Change = NonNullable<Entry['changes']>[number];

/** The noun for the count of a bulk operation, by the first word of its action. */
const counted: Readonly<Record<string, string>> = {
  messages: 'message',
  dlq: 'dead letter',
  runs: 'run',
  runDlq: 'run',
};

/** Changed fields that are shown without a click. */
const shownAtOnce = 3;

function List({ changes }: { readonly changes: readonly Change[] }) {
  return (
    <ul class="changes">
      {changes.map(({ field, before, after }) => (
        <li key={field}>
          {field}: {before !== undefined && <del>{before}</del>}
          {before !== undefined && after !== undefined && ' → '}
          {after !== undefined && <ins>{after}</ins>}
        </li>
      ))}
    </ul>
  );
}

export function Changes({ of: { action, number, changes = [] } }: { readonly of: Entry }) {
  return (
    <>
      {number !== undefined && countOf(number, counted[action.replace(/\..*/, '')] ?? 'thing')}
      {changes.length > shownAtOnce ? (
        <details>
          <summary>{countOf(changes.length, 'field')}</summary>
          <List changes={changes} />
        </details>
      ) : (
        changes.length > 0 && <List changes={changes} />
      )}
    </>
  );
}
