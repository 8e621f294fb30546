/** Messages that wait, and the outcomes of those that were sent. */
import { cancelled, messagePage } from '../../../../lambdas/wire/answers.ts';
import { useMayWrite } from '../../access.ts';
import { pagesOf } from '../../api/client.ts';
import { Bulk } from '../../lists/bulk.tsx';
import { ResourceList } from '../../lists/resourceList.tsx';
import { href, type Place } from '../../place.ts';
import { ButtonLink } from '../../ui/basics.tsx';
import {
  bodyField,
  destinationFields,
  filtersOf,
  type FilterField,
  originFields,
  periodFields,
  valuesIn,
} from '../../ui/filters.tsx';
import { MessageDetail } from './detail.tsx';
import { messageColumns } from './messageTable.tsx';
import { FoundMessages } from './search.tsx';

const waiting = 'CREATED,RETRY';

const fields: readonly FilterField[] = [
  {
    name: 'state',
    label: 'State',
    isMain: true,
    options: [
      ['', 'All'],
      [waiting, 'Waiting'],
      ['ACTIVE', 'Waiting for an answer'],
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
      ['run', 'Messages of workflow runs'],
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

/** Cancels all waiting messages that match the filters. Filters for messages that have ended are ignored. */
function CancelAll({ query, then }: { readonly query: URLSearchParams; readonly then: () => void }) {
  const selected = new URLSearchParams(query);
  selected.delete('state');
  const isOfList = ['messageIds', 'kind', 'body'].some((name) => query.has(name));
  if (!['ALL', waiting].includes(query.get('state') ?? '') || isOfList) return null;
  return (
    <Bulk
      name="Cancel all waiting"
      verb="Cancel"
      done="cancelled"
      effect={`All waiting messages ${selected.size === 0 ? '' : 'that match the filters '}will not be delivered. An attempt that is in flight may still arrive.`}
      noun="message"
      path="v2/messages/count"
      query={selected}
      isDangerous
      then={then}
      work={async function* (query) {
        const request = { method: 'DELETE', path: 'v2/messages', query } as const;
        for await (const part of pagesOf(cancelled, request)) yield part.cancelled;
      }}
    />
  );
}

function List({ place }: { readonly place: Place }) {
  const query = filtersOf(place, fields);
  if (!query.has('state')) query.set('state', 'ALL');
  const publish = useMayWrite() && (
    <ButtonLink kind="main" href={href(['publish'])}>
      Publish a message
    </ButtonLink>
  );
  return (
    <ResourceList
      title="Messages"
      isSticky
      place={place}
      fields={fields}
      shape={messagePage}
      path="v2/messages"
      query={{ state: 'ALL' }}
      rowsOf={({ messages }) => messages}
      valuesOf={valuesIn}
      file="messages"
      instead={query.has('body') && <FoundMessages key={query.toString()} query={query} />}
      actions={({ again }) => (
        <>
          <CancelAll query={query} then={again} />
          {publish}
        </>
      )}
      noMatch="No message matches these filters."
      empty={['No messages yet.', publish || 'They are shown here as soon as one is published.']}
      caption="Messages, the newest first"
      keyOf={({ messageId }) => messageId}
      columns={messageColumns}
    />
  );
}
