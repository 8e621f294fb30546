/** Messages: what waits, and what became of what was sent. */
import { messagePage } from '../../../../lambdas/api/answers.ts';
import { usePages } from '../../api/useAsked.ts';
import { href, type Place } from '../../place.ts';
import { ButtonLink, Cut, Empty, Page, State } from '../../ui/basics.tsx';
import { FilterBar, filtersOf, isFiltered, type FilterField } from '../../ui/filters.tsx';
import { Listed, Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';

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

export function Messages({ place }: { readonly place: Place }) {
  const query = filtersOf(place, fields);
  if (!query.has('state')) query.set('state', 'ALL');
  const list = usePages(messagePage, { path: 'v2/messages', query }, ({ messages }) => messages);
  return (
    <Page title="Messages">
      <FilterBar place={place} fields={fields} />
      <Listed
        list={list}
        empty={
          isFiltered(place, fields) ? (
            <Empty title="No message matches these filters." />
          ) : (
            <Empty title="No messages yet.">
              <ButtonLink kind="main" href={href(['publish'])}>
                Publish the first one
              </ButtonLink>
            </Empty>
          )
        }
      >
        {(messages) => (
          <Table
            caption="Messages, the newest first"
            rows={messages}
            keyOf={({ messageId }) => messageId}
            columns={[
              { head: 'State', cell: ({ state }) => <State state={state} /> },
              {
                head: 'Destination',
                isWide: true,
                cell: ({ messageId, method, url }) => (
                  <a href={href(['messages', messageId])}>
                    <Cut text={`${method} ${url}`} />
                  </a>
                ),
              },
              { head: 'Status', isNumber: true, cell: ({ responseStatus }) => responseStatus || '–' },
              { head: 'Attempts', isNumber: true, cell: ({ retried }) => retried },
              { head: 'Label', cell: ({ label }) => label ?? '' },
              { head: 'Published', cell: ({ createdAt }) => <Time at={createdAt} /> },
            ]}
          />
        )}
      </Listed>
    </Page>
  );
}
