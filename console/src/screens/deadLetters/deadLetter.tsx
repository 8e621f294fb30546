/** One dead letter: why it failed, and what was sent. */
import { useState } from 'preact/hooks';
import { deadLetter, logPage } from '../../../../lambdas/api/answers.ts';
import { useMayWrite } from '../../access.ts';
import { path } from '../../api/client.ts';
import { useAsked } from '../../api/useAsked.ts';
import { go, href, type Place } from '../../place.ts';
import { Button, Card, Facts, Failure, Loading, nameOfState, Page, State } from '../../ui/basics.tsx';
import { Body, contentTypeOf, Headers } from '../../ui/body.tsx';
import { Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { BulkDialog, type Bulk } from './bulk.tsx';

export function DeadLetter({ dlqId, place }: { readonly dlqId: string; readonly place: Place }) {
  const { answer: letter, error, again } = useAsked(deadLetter, { path: path`v2/dlq/${dlqId}` });
  const mayWrite = useMayWrite();
  const [bulk, setBulk] = useState<Bulk>();
  const list = href(['dead-letters'], place.query);
  return (
    <Page
      title={letter === undefined ? 'Dead letter' : `${letter.method} ${letter.url}`}
      back={{ href: list, name: 'Dead letters' }}
      actions={
        mayWrite &&
        letter && (
          <>
            <Button
              kind="main"
              onClick={() => {
                setBulk({ verb: 'retry', ids: [dlqId] });
              }}
            >
              Retry…
            </Button>
            <Button
              onClick={() => {
                setBulk({ verb: 'delete', ids: [dlqId] });
              }}
            >
              Delete…
            </Button>
          </>
        )
      }
    >
      {error !== undefined && <Failure error={error} again={again} />}
      {letter === undefined && error === undefined && <Loading />}
      {letter && (
        <>
          <Card title="Why it failed">
            <Facts
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
                <Headers of={letter.responseHeader} label="headers of the answer" />
                <h3>Body of the answer</h3>
                <Body
                  text={letter.responseBody}
                  base64={letter.responseBodyBase64}
                  type={contentTypeOf(letter.responseHeader)}
                  label="body of the answer"
                />
              </>
            )}
          </Card>
          <Attempts messageId={letter.messageId} />
          <Card title="Request">
            <h3>Headers</h3>
            <Headers of={letter.header} label="headers of the request" />
            <h3>Body</h3>
            <Body
              text={letter.body}
              base64={letter.bodyBase64}
              type={contentTypeOf(letter.header)}
              label="body of the request"
            />
          </Card>
          <Card title="Settings">
            <Facts
              of={[
                ['Message', <a href={href(['messages', letter.messageId])}>{letter.messageId}</a>],
                ['Dead letter', letter.dlqId],
                ['Published', <Time at={letter.createdAt} isExact />],
                ['Published from', letter.callerIp],
                ['URL group', letter.topicName],
                ['Endpoint', letter.endpointName],
                ['Queue', letter.queueName],
                [
                  'Schedule',
                  letter.scheduleId && (
                    <a href={href(['schedules', letter.scheduleId])}>{letter.scheduleId}</a>
                  ),
                ],
                ['Labels', letter.labels?.join(', ')],
                ['Retries, at most', letter.maxRetries],
                ['Delay of a retry, in ms', letter.retryDelayExpression],
                ['Timeout', `${letter.timeout} s`],
                ['Flow-control key', letter.flowControlKey],
                ['Callback', letter.callback],
                ['Failure callback', letter.failureCallback],
              ]}
            />
          </Card>
        </>
      )}
      {bulk && (
        <BulkDialog
          bulk={bulk}
          onClose={(isChanged) => {
            setBulk(undefined);
            if (isChanged) go(list);
          }}
        />
      )}
    </Page>
  );
}

/** The status of the last answer. */
export const Status = ({ of }: { readonly of: number }) => (
  <State state="FAILED" name={of === 0 ? 'No answer' : String(of)} />
);

/** What the log has of a message, from its beginning on: that it was published, and how each attempt ended. */
function Attempts({ messageId }: { readonly messageId: string }) {
  const { answer, error, again } = useAsked(logPage, { path: 'v2/logs', query: { messageIds: messageId } });
  const entries = answer?.logs.filter(({ state }) => state !== 'ACTIVE' && state !== 'RETRY').reverse();
  return (
    <Card title="Attempts">
      {error !== undefined && <Failure error={error} again={again} />}
      {entries === undefined && error === undefined && <Loading />}
      {entries?.length === 0 && <p class="hint">The log does not have them any more.</p>}
      {entries !== undefined && entries.length > 0 && (
        <Table
          caption="What happened to the message, in order"
          rows={entries.map((entry, index) => ({ ...entry, index }))}
          keyOf={({ index }) => String(index)}
          columns={[
            { head: 'When', cell: ({ time }) => <Time at={time} isExact /> },
            {
              head: 'State',
              cell: ({ state }) => (
                <State state={state} name={state === 'CREATED' ? 'published' : nameOfState(state)} />
              ),
            },
            { head: 'Status', isNumber: true, cell: ({ responseStatus }) => responseStatus || '' },
            { head: 'Error', isWide: true, cell: ({ error: why }) => why },
            {
              head: 'Next attempt',
              cell: ({ nextDeliveryTime }) =>
                nextDeliveryTime !== undefined && <Time at={nextDeliveryTime} isExact />,
            },
          ]}
        />
      )}
    </Card>
  );
}
