import type { Answer, listedMessage } from '../../../../lambdas/wire/answers.ts';
import { href } from '../../place.ts';
import { Id, Table, type Column } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';

type ListedMessage = Answer<typeof listedMessage>;

export const statusOf = ({ responseStatus }: { readonly responseStatus?: number | undefined }): string =>
  responseStatus === undefined ? '–' : responseStatus === 0 ? 'no answer' : String(responseStatus);

export const messageColumns: readonly Column<ListedMessage>[] = [
  { head: 'State', state: ({ state }) => state },
  {
    head: 'Destination',
    isWide: true,
    address: ({ method, url }) => `${method} ${url}`,
    to: ({ messageId }) => href(['messages', messageId]),
  },
  { head: 'Label', labels: ({ labels }) => labels },
  { head: 'Id', cell: ({ messageId }) => <Id of={messageId} /> },
  { head: 'Status', isNumber: true, cell: statusOf },
  { head: 'Attempts', isNumber: true, isExtra: true, cell: ({ retried }) => retried },
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
