/** Dead letters: messages that failed permanently, with the reasons, and buttons that retry them. */
import { deadLetter, deadLetterPage, messagePage, type Answer } from '../../../../lambdas/wire/answers.ts';
import { path } from '../../api/client.ts';
import { countedText, isSettled } from '../../api/useAsked.ts';
import { ResourceList } from '../../lists/resourceList.tsx';
import { go, href, type Place } from '../../place.ts';
import { Card, DetailList, Failure, Tabs } from '../../ui/basics.tsx';
import { RequestView } from '../../ui/body.tsx';
import {
  bodyField,
  destinationFields,
  filtersOf,
  originFields,
  periodFields,
  valuesIn,
} from '../../ui/filters.tsx';
import { ResourcePage } from '../../ui/resourcePage.tsx';
import { settingDetails } from '../../ui/settings.tsx';
import { Id } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { hrefOfMessages, linkTo } from '../links.tsx';
import { History, useLog } from '../messages/history.tsx';
import { messageColumns, ofAttempts } from '../messages/messageTable.tsx';
import { deadLetters, FailedActs } from './failed.tsx';
import { FailedList, useFailures } from './failedList.tsx';
import { Groups, kindsOfMessages, Status } from './groups.tsx';

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
  if (place.query.get('list') === 'failing') return <Failing place={place} />;
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
      // Hosts are suggested from all groups, not only from the loaded rows.
      valuesOf={(rows = [], { groups } = { groups: [] }) => {
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
          address: ({ method, url }) => `${method} ${url}`,
          to: ({ dlqId }) => href(['dead-letters', dlqId], place.query),
          hint: ({ error, responseBody = '' }) => error ?? responseBody,
        },
        {
          head: 'Attempts',
          isNumber: true,
          isExtra: true,
          cell: ({ retried, maxRetries }) => ofAttempts(retried + 1, maxRetries),
        },
        { head: 'Label', labels: ({ labels }) => labels },
        { head: 'Message', cell: ({ messageId }) => <Id of={messageId} /> },
        { head: 'Failed', time: ({ failedAt }) => failedAt },
      ]}
    >
      <Tabs place={place} of={lists} />
    </FailedList>
  );
}

const lists = [
  ['', 'Dead letters'],
  ['failing', 'Failing, will be retried'],
] as const;

/** Messages whose last attempt failed. They show an outage hours before there are dead letters. */
function Failing({ place }: { readonly place: Place }) {
  const own = fields.filter(({ name }) => name !== 'body' && name !== 'messageId');
  const query = filtersOf(place, own);
  const counted = useFailures('v2/messages/count', new URLSearchParams([...query, ['by', 'failure']]));
  return (
    <ResourceList
      title="Dead letters"
      place={place}
      fields={own}
      shape={messagePage}
      path="v2/messages"
      query={{ state: 'RETRY' }}
      rowsOf={({ messages }) => messages}
      valuesOf={valuesIn}
      isWaiting={!isSettled(counted)}
      below={() => (
        <>
          {counted.error !== undefined && <Failure error={counted.error} again={counted.again} />}
          {counted.answer && (
            <Groups
              place={place}
              counts={counted.answer}
              kinds={kindsOfMessages}
              total={countedText(counted)}
              noun="Messages"
              hasSingle
            />
          )}
        </>
      )}
      noMatch="No failing message matches these filters."
      empty={['No message fails.', 'Messages whose last attempt failed are shown here until their next one.']}
      caption="Failing messages, the newest first"
      keyOf={({ messageId }) => messageId}
      columns={messageColumns}
    >
      <Tabs place={place} of={lists} />
    </ResourceList>
  );
}

function DeadLetter({ dlqId, place }: { readonly dlqId: string; readonly place: Place }) {
  const list = href(['dead-letters'], place.query);
  return (
    <ResourcePage
      shape={deadLetter}
      path={path`v2/dlq/${dlqId}`}
      title={dlqId}
      back={{ href: list, name: 'Dead letters' }}
      actions={() => (
        <FailedActs
          of={deadLetters}
          which="it"
          ids={[dlqId]}
          query={new URLSearchParams()}
          then={(sent) => {
            go(sent.length === 0 ? list : hrefOfMessages(sent));
          }}
        />
      )}
    >
      {(letter) => <Details of={letter} />}
    </ResourcePage>
  );
}

const Details = ({ of: letter }: { readonly of: Answer<typeof deadLetter> }) => (
  <>
    <Card title="Why it failed">
      <p class="happened row">
        <code>
          {letter.method} {letter.url}
        </code>
      </p>
      <DetailList
        of={[
          ['Last answer', <Status of={letter.responseStatus} />],
          ['Error', letter.error],
          ['Failed', <Time at={letter.failedAt} />],
          ['Attempts', ofAttempts(letter.retried + 1, letter.maxRetries)],
          ['Kept until', <Time at={letter.expiresAt} isExact />],
        ]}
      />
      {letter.responseStatus > 0 && (
        <RequestView
          noun="answer"
          of={{
            header: letter.responseHeader,
            body: letter.responseBody,
            bodyBase64: letter.responseBodyBase64,
          }}
        />
      )}
    </Card>
    <History of={useLog(letter.messageId, 0)} />
    <Card title="Request">
      <RequestView of={letter} />
    </Card>
    <Card title="Settings">
      <DetailList
        of={[
          ['Message', linkTo('messages', letter.messageId)],
          ['Created from', linkTo('messages', letter.retriedFrom)],
          ['Sent again as', linkTo('messages', letter.retriedAs)],
          ['Published', <Time at={letter.createdAt} isExact />],
          ['Published from', letter.callerIp],
          ['URL group', letter.topicName],
          ['Endpoint', letter.endpointName],
          ['Queue', letter.queueName],
          ['Schedule', linkTo('schedules', letter.scheduleId)],
          ...settingDetails(letter),
        ]}
      />
    </Card>
  </>
);
