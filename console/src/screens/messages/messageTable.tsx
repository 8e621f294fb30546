import { messagePage, type Answer, type listedMessage } from '../../../../lambdas/wire/answers.ts';
import type { Request } from '../../api/client.ts';
import { usePages } from '../../api/useAsked.ts';
import { href } from '../../place.ts';
import { Card } from '../../ui/basics.tsx';
import { Id, Listed, Table, type Column } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';

type ListedMessage = Answer<typeof listedMessage>;

export const statusOf = ({ responseStatus }: { readonly responseStatus?: number | undefined }): string =>
  responseStatus === undefined ? '–' : responseStatus === 0 ? 'no answer' : String(responseStatus);

/** Such as “1 of 4”. The number of attempts may have been lowered since. */
export const ofAttempts = (attempt: number, maxRetries: number): string =>
  `${attempt} of ${Math.max(attempt, maxRetries + 1)}`;

/** The number of attempts that were made. The API does not count an open one yet. */
export const attemptsOf = ({ state, retried, maxRetries }: ListedMessage): string =>
  ofAttempts(state === 'ACTIVE' ? retried + 1 : retried, maxRetries);

export const messageColumns: readonly Column<ListedMessage>[] = [
  { head: 'State', state: ({ state }) => state },
  {
    head: 'Destination',
    address: ({ method, url }) => `${method} ${url}`,
    to: ({ messageId }) => href(['messages', messageId]),
  },
  { head: 'Label', labels: ({ labels }) => labels },
  { head: 'Id', cell: ({ messageId }) => <Id of={messageId} /> },
  { head: 'Status', isNumber: true, cell: statusOf },
  { head: 'Attempts', isNumber: true, isExtra: true, cell: attemptsOf },
  { head: 'Published', isExtra: true, time: ({ createdAt }) => createdAt },
  {
    head: 'Due or ended',
    cell: ({ nextDeliveryTime, completionDeadline, endedAt }) => (
      <Time at={endedAt ?? nextDeliveryTime ?? completionDeadline ?? NaN} />
    ),
  },
];

interface MessageTableProps {
  readonly caption: string;
  readonly of: readonly ListedMessage[];
}

export const MessageTable = ({ caption, of }: MessageTableProps) => (
  <Table caption={caption} rows={of} keyOf={({ messageId }) => messageId} columns={messageColumns} />
);

interface MessageCardProps {
  readonly title: string;
  readonly caption: string;
  readonly query: NonNullable<Request['query']>;
  /** The most messages to show. Default: all, in pages. */
  readonly most?: number;
  /** @param isAll whether the API has read all messages */
  readonly empty: (isAll: boolean) => string;
}

export function MessageCard({ title, caption, query, most, empty }: MessageCardProps) {
  const list = usePages(messagePage, { path: 'v2/messages', query }, ({ messages }) => messages);
  const shown = most === undefined ? list : { ...list, more: undefined };
  return (
    <Card title={title}>
      <Listed list={shown} empty={<p class="hint">{empty(list.more === undefined)}</p>}>
        {(messages) => <MessageTable caption={caption} of={messages.slice(0, most)} />}
      </Listed>
    </Card>
  );
}
