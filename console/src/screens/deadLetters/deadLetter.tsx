/** One dead letter: why it failed, and its message. */
import { deadLetter, logPage, type Answer } from '../../../../lambdas/wire/answers.ts';
import { useMayWrite } from '../../access.ts';
import { path } from '../../api/client.ts';
import { useAsked } from '../../api/useAsked.ts';
import { go, href, type Place } from '../../place.ts';
import { Loaded } from '../../ui/act.tsx';
import { Card, DetailList, Page, State } from '../../ui/basics.tsx';
import { Body, contentTypeOf, Headers, RequestView } from '../../ui/body.tsx';
import { settingDetails } from '../../ui/settings.tsx';
import { Time } from '../../ui/time.tsx';
import { Compare } from '../messages/compare.tsx';
import { Happened } from '../messages/happened.tsx';
import { hrefOfMessages } from '../messages/links.ts';
import { happeningsOf } from '../messages/timeline.ts';
import { DeadLetterActs } from './bulk.tsx';

export const Status = ({ of }: { readonly of: number }) => (
  <State state="FAILED" name={of === 0 ? 'No answer' : String(of)} />
);

export function DeadLetter({ dlqId, place }: { readonly dlqId: string; readonly place: Place }) {
  const asked = useAsked(deadLetter, { path: path`v2/dlq/${dlqId}` });
  const mayWrite = useMayWrite();
  const list = href(['dead-letters'], place.query);
  const { answer } = asked;
  return (
    <Page
      title={dlqId}
      back={{ href: list, name: 'Dead letters' }}
      actions={
        mayWrite &&
        answer && (
          <DeadLetterActs
            which="it"
            ids={[dlqId]}
            query={new URLSearchParams()}
            then={(sent) => {
              go(sent.length === 0 ? list : hrefOfMessages(sent));
            }}
          />
        )
      }
    >
      <Loaded of={asked}>{(letter) => <Details of={letter} />}</Loaded>
    </Page>
  );
}

const linkTo = (messageId: string | undefined) =>
  messageId && <a href={href(['messages', messageId])}>{messageId}</a>;

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
      <Attempts messageId={letter.messageId} />
      <Card title="Request">
        <RequestView of={letter} />
      </Card>
      <Card title="Settings">
        <DetailList
          of={[
            ['Message', <a href={href(['messages', letter.messageId])}>{letter.messageId}</a>],
            ['Made from', linkTo(letter.retriedFrom)],
            ['Sent again as', linkTo(letter.retriedAs)],
            ['Published', <Time at={letter.createdAt} isExact />],
            ['Published from', letter.callerIp],
            ['URL group', letter.topicName],
            ['Endpoint', letter.endpointName],
            ['Queue', letter.queueName],
            [
              'Schedule',
              letter.scheduleId && <a href={href(['schedules', letter.scheduleId])}>{letter.scheduleId}</a>,
            ],
            ...settingDetails(letter),
          ]}
        />
      </Card>
    </>
  );
}

function Attempts({ messageId }: { readonly messageId: string }) {
  const asked = useAsked(logPage, { path: 'v2/logs', query: { messageIds: messageId, count: 100 } });
  return (
    <Card title="What happened" actions={<Compare of={happeningsOf(asked.answer?.logs ?? [])} />}>
      <Loaded of={asked}>
        {({ logs }) =>
          logs.length === 0 ? (
            <p class="hint">The log no longer has it.</p>
          ) : (
            <ol class="timeline">
              {happeningsOf(logs).map((one) => (
                <Happened key={one.at} one={one} isOpen={false} />
              ))}
            </ol>
          )
        }
      </Loaded>
    </Card>
  );
}
