import type * as z from 'zod/mini';
import type { listedMessage } from '../../../../lambdas/wire/answers.ts';
import type { Readable } from '../../../../lambdas/options/option.ts';
import { href } from '../../place.ts';
import { State } from '../../ui/basics.tsx';
import { CutMiddle, Id, Labels, Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';

type ListedMessage = Readable<z.infer<typeof listedMessage>>;

export function MessageTable({
  caption,
  of,
}: {
  readonly caption: string;
  readonly of: readonly ListedMessage[];
}) {
  return (
    <Table
      caption={caption}
      rows={of}
      keyOf={({ messageId }) => messageId}
      columns={[
        { head: 'State', cell: ({ state }) => <State state={state} /> },
        {
          head: 'Destination',
          isWide: true,
          cell: ({ messageId, method, url }) => (
            <a href={href(['messages', messageId])}>
              <CutMiddle text={`${method} ${url}`} />
            </a>
          ),
        },
        { head: 'Label', cell: ({ labels }) => <Labels of={labels} /> },
        { head: 'Id', cell: ({ messageId }) => <Id of={messageId} /> },
        { head: 'Status', isNumber: true, cell: statusOf },
        { head: 'Attempts', isNumber: true, isExtra: true, cell: ({ retried }) => retried },
        { head: 'Published', isExtra: true, cell: ({ createdAt }) => <Time at={createdAt} /> },
        {
          head: 'Due or ended',
          cell: ({ nextDeliveryTime, completionDeadline, endedAt }) => (
            <Time at={endedAt ?? nextDeliveryTime ?? completionDeadline ?? NaN} />
          ),
        },
      ]}
    />
  );
}

export const statusOf = ({ responseStatus }: { readonly responseStatus?: number | undefined }): string =>
  responseStatus === undefined ? '–' : responseStatus === 0 ? 'no answer' : String(responseStatus);
