/** Messages: what waits, and what became of what was sent. */
import { messagePage } from '../../../../lambdas/api/answers.ts';
import { useMayWrite } from '../../access.ts';
import { usePages } from '../../api/useAsked.ts';
import { href, type Place } from '../../place.ts';
import { ButtonLink, Empty, Page } from '../../ui/basics.tsx';
import { FilterBar, filtersOf, isFiltered, type FilterField } from '../../ui/filters.tsx';
import { Listed } from '../../ui/table.tsx';
import { MessageDetail } from './detail.tsx';
import { MessageTable } from './messageTable.tsx';

const fields: readonly FilterField[] = [
  {
    name: 'state',
    label: 'State',
    isMain: true,
    options: [
      ['', 'All'],
      ['CREATED,RETRY', 'Waiting'],
      ['DELIVERED', 'Delivered'],
      ['FAILED', 'Failed'],
      ['CANCELED', 'Cancelled'],
    ],
  },
  { name: 'messageIds', label: 'Message id', placeholder: 'msg_…', isMain: true },
  { name: 'label', label: 'Label', isMain: true },
  { name: 'host', label: 'Host', placeholder: 'example.com', isMain: true },
  { name: 'url', label: 'URL' },
  { name: 'topicName', label: 'URL group' },
  { name: 'queueName', label: 'Queue' },
  { name: 'flowControlKey', label: 'Flow-control key' },
  { name: 'scheduleId', label: 'Schedule' },
  { name: 'fromDate', label: 'From', isTime: true },
  { name: 'toDate', label: 'Until', isTime: true },
];

/** `#/messages`: the list; `#/messages/<id>`: one of them. */
export function Messages({ place }: { readonly place: Place }) {
  const [, messageId] = place.path;
  return messageId === undefined ? <List place={place} /> : <MessageDetail messageId={messageId} />;
}

function List({ place }: { readonly place: Place }) {
  const mayWrite = useMayWrite();
  const query = filtersOf(place, fields);
  if (!query.has('state')) query.set('state', 'ALL');
  const list = usePages(messagePage, { path: 'v2/messages', query }, ({ messages }) => messages);
  const publish = mayWrite && (
    <ButtonLink kind="main" href={href(['publish'])}>
      Publish a message
    </ButtonLink>
  );
  return (
    <Page title="Messages" actions={publish}>
      <FilterBar place={place} fields={fields} />
      <Listed
        list={list}
        empty={
          isFiltered(place, fields) ? (
            <Empty title="No message matches these filters." />
          ) : (
            <Empty title="No messages yet.">
              {publish || 'They are shown here as soon as one is published.'}
            </Empty>
          )
        }
      >
        {(messages) => <MessageTable caption="Messages, the newest first" of={messages} />}
      </Listed>
    </Page>
  );
}
