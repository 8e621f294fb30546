/** One dead letter: why it failed, and its message. */
import { deadLetter, type Answer } from '../../../../lambdas/wire/answers.ts';
import { path } from '../../api/client.ts';
import { go, href, type Place } from '../../place.ts';
import { ResourcePage } from '../../ui/resourcePage.tsx';
import { Card, DetailList, State } from '../../ui/basics.tsx';
import { Body, contentTypeOf, Headers, RequestView } from '../../ui/body.tsx';
import { settingDetails } from '../../ui/settings.tsx';
import { Time } from '../../ui/time.tsx';
import { History, useLog } from '../messages/history.tsx';
import { deadLetters, FailedActs } from './failed.tsx';
import { hrefOfMessages, linkTo } from '../links.tsx';

export const Status = ({ of }: { readonly of: number }) => (
  <State state="FAILED" name={of === 0 ? 'No answer' : String(of)} />
);

export function DeadLetter({ dlqId, place }: { readonly dlqId: string; readonly place: Place }) {
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

function Details({ of: letter }: { readonly of: Answer<typeof deadLetter> }) {
  return (
    <>
      <Card title="Why it failed">
        <p class="happened">
          <code>
            {letter.method} {letter.url}
          </code>
        </p>
        <DetailList
          of={[
            ['Last answer', <Status of={letter.responseStatus} />],
            ['Error', letter.error],
            ['Failed', <Time at={letter.failedAt} />],
            ['Attempts', letter.retried + 1],
            ['Kept until', <Time at={letter.expiresAt} isExact />],
          ]}
        />
        {letter.responseStatus > 0 && (
          <>
            <h3>Headers of the answer</h3>
            <Headers of={letter.responseHeader} label="Headers of the answer" />
            <h3>Body of the answer</h3>
            <Body
              text={letter.responseBody}
              base64={letter.responseBodyBase64}
              type={contentTypeOf(letter.responseHeader)}
              label="the body of the answer"
            />
          </>
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
            ['Made from', linkTo('messages', letter.retriedFrom)],
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
}
