/** Dead letters: messages that failed permanently, with the reasons, and buttons that retry them. */
import { deadLetterPage } from '../../../../lambdas/wire/answers.ts';
import { href, type Place } from '../../place.ts';
import { bodyField, destinationFields, originFields, periodFields, valuesIn } from '../../ui/filters.tsx';
import { Id } from '../../ui/table.tsx';
import { DeadLetter, Status } from './deadLetter.tsx';
import { deadLetters } from './failed.tsx';
import { FailedList } from './failedList.tsx';
import { kindsOfMessages } from './groups.tsx';

const fields = [
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
  if (dlqId !== undefined) return <DeadLetter dlqId={dlqId} place={place} />;
  return (
    <FailedList
      of={deadLetters}
      title="Dead letters"
      place={place}
      fields={fields}
      shape={deadLetterPage}
      rowsOf={({ messages }) => messages}
      searchedIn={({ searched }) => searched}
      kinds={kindsOfMessages}
      groupsOf="Dead letters"
      // Hosts are suggested from all groups, too.
      valuesOf={(rows, { groups } = { groups: [] }) => {
        const values = valuesIn(rows);
        return {
          ...values,
          host: [...new Set([...groups.map(({ host }) => host), ...(values['host'] ?? [])])],
        };
      }}
      file="dead-letters"
      noMatch="No dead letter matches these filters."
      empty={[
        'No dead letters.',
        <>
          Messages whose last retry failed are kept here. Failed workflow runs are in{' '}
          <a href={href(['runs'])}>Workflow runs</a>.
        </>,
      ]}
      caption="Dead letters, the newest first"
      nameOf={({ url, dlqId }) => `${url} ${dlqId}`}
      columns={[
        { head: 'Status', cell: ({ responseStatus }) => <Status of={responseStatus} /> },
        {
          head: 'Destination',
          isWide: true,
          address: ({ method, url }) => `${method} ${url}`,
          to: ({ dlqId }) => href(['dead-letters', dlqId], place.query),
          hint: ({ error, responseBody = '' }) => error ?? responseBody,
        },
        { head: 'Retries', isNumber: true, isExtra: true, cell: ({ retried }) => retried },
        { head: 'Label', labels: ({ labels }) => labels },
        { head: 'Message', cell: ({ messageId }) => <Id of={messageId} /> },
        { head: 'Failed', time: ({ failedAt }) => failedAt },
      ]}
    />
  );
}
