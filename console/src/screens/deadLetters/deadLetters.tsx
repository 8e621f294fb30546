/** Dead letters: messages that failed permanently, with the reasons, and buttons that retry them. */
import { useState } from 'preact/hooks';
import { deadLetterPage, type Answer } from '../../../../lambdas/wire/answers.ts';
import { deadLetterCount, type deadLetterGroup } from '../../../../lambdas/wire/statsAnswers.ts';
import { useMayWrite } from '../../access.ts';
import { countedText, isSettled, useAsked, usePages } from '../../api/useAsked.ts';
import { Export } from '../../lists/export.tsx';
import { href, type Place } from '../../place.ts';
import { count, Cut, Empty, Failure, Page } from '../../ui/basics.tsx';
import {
  bodyField,
  destinationFields,
  FilterBar,
  filtersOf,
  inWords,
  isFiltered,
  noMatch,
  type FilterField,
  originFields,
  periodFields,
  valuesIn,
} from '../../ui/filters.tsx';
import { Groups, kindsOfMessages } from './groups.tsx';
import { searchRows, Searched } from '../../ui/searched.tsx';
import { CutMiddle, Id, Labels, Listed, Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { DeadLetterActs } from './bulk.tsx';
import { DeadLetter, Status } from './deadLetter.tsx';

const fields: readonly FilterField[] = [
  ...destinationFields.filter(({ name }) => name === 'host'),
  { name: 'responseStatus', label: 'Status', placeholder: '0: no answer', isMain: true },
  ...destinationFields.filter(({ name }) => name !== 'host'),
  { ...bodyField, isMain: true },
  { name: 'error', label: 'Reason', isExact: true },
  { name: 'messageId', label: 'Message id', placeholder: 'msg_…' },
  ...originFields,
  ...periodFields,
];

export function DeadLetters({ place }: { readonly place: Place }) {
  const [, dlqId] = place.path;
  return dlqId === undefined ? <List place={place} /> : <DeadLetter dlqId={dlqId} place={place} />;
}

/**
 * The interval of counts, in milliseconds. A count reads every entry that it counts, so counts are rare, and many entries are
 * counted only once.
 */
const countedEveryMs = 10_000;
const mostCountedOften = 1_000;

function List({ place }: { readonly place: Place }) {
  const query = filtersOf(place, fields);
  const isSearch = query.has('body');
  // A search reads much, so it is not repeated automatically.
  const list = usePages(
    deadLetterPage,
    { path: 'v2/dlq', query },
    (page) => searchRows(page, page.messages, isSearch),
    isSearch ? 0 : undefined,
  );
  const letters = list.items?.flatMap(({ row }) => row ?? []);
  const [isLarge, setLarge] = useState(false);
  const counted = useAsked(
    deadLetterCount,
    // Search results are not counted, because the user selects them one by one.
    isSearch ? undefined : { path: 'v2/dlq/count', query },
    isLarge ? undefined : countedEveryMs,
  );
  // The groups are above the rows. The rows are hidden until the groups are loaded, so that they don't jump.
  const isCounting = !isSearch && !isSettled(counted);
  const shown = isCounting ? { ...list, items: undefined, more: undefined } : list;
  const mayWrite = useMayWrite();
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const { count: number } = counted.answer ?? { count: 0 };
  if (counted.answer !== undefined && isLarge !== (number ?? 0) > mostCountedOften) setLarge(!isLarge);
  // Entries that are gone, or hidden by a filter, are no longer selected.
  const ids = letters?.flatMap(({ dlqId }) => (selected.has(dlqId) ? dlqId : [])) ?? [];
  const which = isFiltered(place, fields)
    ? `the ${countedText(counted)} ${number === 1 ? 'match' : 'matches'}`
    : `all ${countedText(counted)}`;

  return (
    <Page
      title="Dead letters"
      isSticky
      actions={
        mayWrite && (
          <DeadLetterActs
            {...(ids.length === 0
              ? { which, words: inWords(query, fields) }
              : { which: `${count(ids.length)} selected`, ids })}
            query={query}
            isHidden={number === 0 && ids.length === 0}
            then={() => {
              setSelected(new Set());
              list.again();
              counted.again();
            }}
          />
        )
      }
    >
      <FilterBar
        place={place}
        fields={fields}
        values={valuesOf(letters, counted.answer?.groups)}
        file={
          <Export
            name="dead-letters"
            shape={deadLetterPage}
            request={{ path: 'v2/dlq', query }}
            rowsOf={({ messages }) => messages}
          />
        }
      />
      {counted.error !== undefined && list.error === undefined && (
        <Failure error={counted.error} again={counted.again} />
      )}
      {counted.answer && (
        <Groups
          place={place}
          counts={counted.answer}
          kinds={kindsOfMessages}
          total={countedText(counted)}
          noun="Dead letters"
        />
      )}
      <Listed
        list={shown}
        empty={
          isFiltered(place, fields) ? (
            <Empty title="No dead letter matches these filters.">{noMatch(place, fields)}</Empty>
          ) : (
            <Empty title="No dead letters.">
              Messages whose last retry failed are kept here. Failed workflow runs are in{' '}
              <a href={href(['runs'])}>Workflow runs</a>.
            </Empty>
          )
        }
      >
        {(items) => (
          <>
            {isSearch && <Searched of={items} hasMore={list.more !== undefined} />}
            {(letters ?? []).length > 0 && (
              <Table
                caption="Dead letters, the newest first"
                rows={letters ?? []}
                keyOf={({ dlqId }) => dlqId}
                nameOf={({ url, dlqId }) => `${url} ${dlqId}`}
                {...(mayWrite && { selection: { selected, onChange: setSelected } })}
                columns={[
                  { head: 'Status', cell: ({ responseStatus }) => <Status of={responseStatus} /> },
                  {
                    head: 'Destination',
                    isWide: true,
                    cell: ({ dlqId, method, url, error, responseBody = '' }) => (
                      <div>
                        <a href={href(['dead-letters', dlqId], place.query)}>
                          <CutMiddle text={`${method} ${url}`} />
                        </a>
                        <span class="hint">
                          <Cut text={error ?? responseBody} />
                        </span>
                      </div>
                    ),
                  },
                  { head: 'Retries', isNumber: true, isExtra: true, cell: ({ retried }) => retried },
                  { head: 'Label', cell: ({ labels }) => <Labels of={labels} /> },
                  { head: 'Message', cell: ({ messageId }) => <Id of={messageId} /> },
                  { head: 'Failed', cell: ({ failedAt }) => <Time at={failedAt} /> },
                ]}
              />
            )}
          </>
        )}
      </Listed>
    </Page>
  );
}

/** Suggestions for filters: values in the rows, and the hosts of all groups. */
const valuesOf = (
  letters: Answer<typeof deadLetterPage>['messages'] | undefined,
  groups: readonly Answer<typeof deadLetterGroup>[] = [],
) => {
  const values = valuesIn(letters);
  const hosts = new Set([...groups.map(({ host }) => host), ...(values['host'] ?? [])]);
  return { ...values, host: [...hosts] };
};
