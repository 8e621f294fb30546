/** Messages: those that wait, and the outcomes of those that were sent. */
import { cancelled, messagePage } from '../../../../lambdas/wire/answers.ts';
import { useMayWrite } from '../../access.ts';
import { pagesOf } from '../../api/client.ts';
import { usePages } from '../../api/useAsked.ts';
import { Export } from '../../lists/export.tsx';
import { href, type Place } from '../../place.ts';
import { Opens } from '../../ui/act.tsx';
import { ButtonLink, Empty, Page } from '../../ui/basics.tsx';
import { Bulk } from '../../ui/bulk.tsx';
import {
  bodyField,
  destinationFields,
  FilterBar,
  filtersOf,
  isFiltered,
  noMatch,
  type FilterField,
  originFields,
  periodFields,
  valuesIn,
} from '../../ui/filters.tsx';
import { Listed } from '../../ui/table.tsx';
import { MessageDetail } from './detail.tsx';
import { MessageTable } from './messageTable.tsx';
import { FoundMessages } from './search.tsx';

/** The states in which messages can be cancelled. */
const waiting = 'CREATED,RETRY';

const fields: readonly FilterField[] = [
  {
    name: 'state',
    label: 'State',
    isMain: true,
    options: [
      ['', 'All'],
      [waiting, 'Waiting'],
      ['DELIVERED', 'Delivered'],
      ['FAILED', 'Failed'],
      ['CANCELED', 'Cancelled'],
    ],
  },
  {
    name: 'kind',
    label: 'Kind',
    isMain: true,
    options: [
      ['', 'All'],
      ['published', 'Without runs and callbacks'],
      ['callback', 'Callbacks'],
      ['run', 'Of runs'],
    ],
  },
  { name: 'messageIds', label: 'Message id', placeholder: 'msg_…', isMain: true },
  ...destinationFields,
  { ...bodyField, isMain: true },
  ...originFields,
  ...periodFields,
];

/** `#/messages` is the list, `#/messages/<id>` a message. */
export function Messages({ place }: { readonly place: Place }) {
  const [, messageId] = place.path;
  return messageId === undefined ? <List place={place} /> : <MessageDetail messageId={messageId} />;
}

/** Cancels all waiting messages that match the filters. Filters for ended messages are left out. */
function CancelAll({ query, then }: { readonly query: URLSearchParams; readonly then: () => void }) {
  const selected = new URLSearchParams(query);
  selected.delete('state');
  const state = query.get('state') ?? '';
  const isOfList = ['messageIds', 'kind', 'body'].some((name) => query.has(name));
  if ((state !== 'ALL' && state !== waiting) || isOfList) return null;
  return (
    <Opens name="Cancel all waiting" then={then}>
      {(onClose) => (
        <Bulk
          verb="Cancel"
          done="cancelled"
          noun="message"
          path="v2/messages/count"
          query={selected}
          isDangerous
          onClose={onClose}
          work={async function* (query) {
            for await (const part of pagesOf(cancelled, { method: 'DELETE', path: 'v2/messages', query })) {
              yield part.cancelled;
            }
          }}
        >
          <p>
            {selected.size === 0 ? 'All waiting messages' : 'All waiting messages that match the filters'}{' '}
            will not be delivered. An attempt that is in flight may still arrive.
          </p>
        </Bulk>
      )}
    </Opens>
  );
}

function List({ place }: { readonly place: Place }) {
  const mayWrite = useMayWrite();
  const query = filtersOf(place, fields);
  const isSearch = query.has('body');
  if (!query.has('state')) query.set('state', 'ALL');
  const list = usePages(
    messagePage,
    isSearch ? undefined : { path: 'v2/messages', query },
    ({ messages }) => messages,
  );
  const publish = mayWrite && (
    <ButtonLink kind="main" href={href(['publish'])}>
      Publish a message
    </ButtonLink>
  );
  return (
    <Page
      title="Messages"
      isSticky
      actions={
        mayWrite && (
          <>
            <CancelAll query={query} then={list.again} />
            {publish}
          </>
        )
      }
    >
      <FilterBar
        place={place}
        fields={fields}
        values={valuesIn(list.items)}
        file={
          isSearch ? undefined : (
            <Export
              name="messages"
              shape={messagePage}
              request={{ path: 'v2/messages', query }}
              rowsOf={({ messages }) => messages}
            />
          )
        }
      />
      {isSearch ? (
        <FoundMessages key={query.toString()} query={query} />
      ) : (
        <Listed
          list={list}
          empty={
            isFiltered(place, fields) ? (
              <Empty title="No message matches these filters.">{noMatch(place, fields)}</Empty>
            ) : (
              <Empty title="No messages yet.">
                {publish || 'They are shown here as soon as one is published.'}
              </Empty>
            )
          }
        >
          {(messages) => <MessageTable caption="Messages, the newest first" of={messages} />}
        </Listed>
      )}
    </Page>
  );
}
