/** The parts of an audit entry: who changed what. */
import type { auditEntry } from '../../../../lambdas/wire/accountAnswers.ts';
import type { Answer } from '../../../../lambdas/wire/answers.ts';
import { countOf } from '../../ui/basics.tsx';

export type Entry = Answer<typeof auditEntry>;

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

export function Changes({ of: { action, number, changes = [] } }: { readonly of: Entry }) {
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
