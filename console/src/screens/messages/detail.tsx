/** One message: its status, its history, and actions. */
import { useEffect, useState } from 'preact/hooks';
import {
  deadLetterPage,
  logPage,
  messageIdAnswer,
  messageInAnyState,
  messagePage,
  type Answer,
} from '../../../../lambdas/wire/answers.ts';
import { useMayWrite } from '../../access.ts';
import { ask, baseUrl, path } from '../../api/client.ts';
import { isSettled, defaultIntervalMs, useAsked, useOnceTrue, usePages } from '../../api/useAsked.ts';
import { go, href } from '../../place.ts';
import { sends, ActionForm } from '../../ui/action.tsx';
import { ButtonLink, Card, Copy, DetailList, Failure, Loading, Page, State } from '../../ui/basics.tsx';
import { RequestView } from '../../ui/body.tsx';
import { settingDetails } from '../../ui/settings.tsx';
import { Listed } from '../../ui/table.tsx';
import { Time, exactly } from '../../ui/time.tsx';
import { showToast } from '../../ui/toast.tsx';
import { RetryOne } from '../deadLetters/failed.tsx';
import { curlOf, directCurlOf } from '../publish/curl.ts';
import { draftOf } from '../publish/draft.ts';
import { Change } from './change.tsx';
import { Compare } from './compare.tsx';
import { Complete } from './complete.tsx';
import { Happened } from './happened.tsx';
import { MessageTable } from './messageTable.tsx';
import { happeningsOf } from './timeline.ts';
import { hrefOfMessages, linkTo } from '../links.tsx';

const minuteMs = 60_000;

type Message = Answer<typeof messageInAnyState>;
type Circuit = NonNullable<Message['heldBy']>;

export function MessageDetail({ messageId }: { readonly messageId: string }) {
  const [isOver, setOver] = useState(false);
  const [isHeld, setHeld] = useState(false);
  // The log of an ended message does not change.
  const log = usePages(
    logPage,
    { path: 'v2/logs', query: { messageIds: messageId, count: 100 } },
    ({ logs }) => logs,
    isOver ? 0 : defaultIntervalMs,
  );
  const newest = log.items?.[0];
  // The message may be large, so it is loaded after the log, and again only when the log has new entries. While its host fails,
  // the time of the next probe changes without a log entry.
  const { answer, error, again } = useAsked(
    messageInAnyState,
    log.items && { path: path`v2/messages/${messageId}`, query: { state: 'ALL' } },
    isHeld ? defaultIntervalMs : undefined,
    newest && `${newest.time} ${newest.state}`,
  );
  const dlqId = answer?.dlqId;
  const letters = useAsked(
    deadLetterPage,
    dlqId === undefined ? undefined : { path: 'v2/dlq', query: { dlqIds: dlqId } },
    // The dead letter of a completed attempt is written slightly later than its log entry.
    answer?.endedAt !== undefined && Date.now() - answer.endedAt < minuteMs ? defaultIntervalMs : 0,
  );
  const isDead = letters.answer?.messages[0] !== undefined;
  // The message waits for its dead letter, whose button would move the others.
  const shown = useOnceTrue(answer !== undefined && (dlqId === undefined || isSettled(letters)))
    ? answer
    : undefined;
  const hasEnded = answer?.endedAt !== undefined;
  useEffect(() => {
    setOver(hasEnded);
    setHeld(answer?.heldBy !== undefined);
  }, [hasEnded, answer?.heldBy === undefined]);
  const happened = happeningsOf(log.items ?? []);
  return (
    <Page
      title={messageId}
      back={{ href: href(['messages']), name: 'Messages' }}
      actions={shown && <Actions of={shown} isDead={isDead} again={log.again} />}
    >
      {error !== undefined && <Failure error={error} again={again} />}
      {shown === undefined && error === undefined && log.error === undefined && <Loading />}
      {shown && (
        <>
          <Status of={shown} isDead={isDead} />
          <Card title="What happened" actions={<Compare of={happened} />}>
            <Listed list={log} empty={<p class="hint">The log no longer has it.</p>}>
              {() => (
                <ol class="timeline">
                  {happened.map((one, index) => (
                    <Happened key={`${one.last.state} ${one.at}`} one={one} isOpen={index === 0} />
                  ))}
                </ol>
              )}
            </Listed>
          </Card>
          {shown.callbackIds.length > 0 && <Callbacks ids={shown.callbackIds} />}
          <Card title="Request">
            <RequestView of={shown} />
          </Card>
        </>
      )}
      {log.error !== undefined && answer === undefined && <Failure error={log.error} again={log.again} />}
    </Page>
  );
}

interface ActionsProps {
  readonly of: Message;
  /** Whether the message's dead letter still exists. */
  readonly isDead: boolean;
  readonly again: () => void;
}

function Actions({ of, isDead, again }: ActionsProps) {
  const mayWrite = useMayWrite();
  const { messageId, workflowRunId, dlqId } = of;
  // Messages of runs are managed by their runs.
  const mayAct = mayWrite && workflowRunId === undefined;
  return (
    <>
      {mayAct && isDead && dlqId !== undefined && (
        <RetryOne
          dlqId={dlqId}
          then={(sent) => {
            go(hrefOfMessages(sent));
          }}
        />
      )}
      {mayWrite && of.state === 'ACTIVE' && <Complete messageId={messageId} then={again} />}
      {mayAct && of.nextDeliveryTime !== undefined && of.nextDeliveryTime > Date.now() && (
        <Change of={of} then={again} />
      )}
      {mayAct && of.endedAt === undefined && (
        <ActionForm
          name="Cancel"
          title="Cancel 1 message?"
          yes="Cancel the message"
          isDangerous
          work={sends(
            { method: 'DELETE', path: path`v2/messages/${messageId}` },
            'The message is cancelled.',
          )}
          then={again}
        >
          <p>It will not be delivered. An attempt that is in flight may still arrive.</p>
        </ActionForm>
      )}
      {mayAct && (
        <>
          <PublishAgain of={of} isDead={isDead} />
          <ButtonLink href={href(['publish'], { message: messageId })}>Edit and publish</ButtonLink>
        </>
      )}
      <Copy text={messageId}>Copy the id</Copy>
      <Copy text={() => curlOf(draftOf(of, Date.now()), baseUrl)}>Copy as curl</Copy>
      <Copy text={() => directCurlOf(draftOf(of, Date.now()))}>Copy as curl to the destination</Copy>
    </>
  );
}

const PublishAgain = ({ of: { messageId, endedAt, state }, isDead }: Pick<ActionsProps, 'of' | 'isDead'>) => (
  <ActionForm
    name="Publish again…"
    kind={isDead || state === 'ACTIVE' ? 'plain' : 'main'}
    title="Publish the message again?"
    yes="Publish again"
    work={async () => {
      const again = path`v2/messages/${messageId}/publish`;
      const made = await ask(messageIdAnswer, { method: 'POST', path: again });
      const place = href(['messages', made.messageId]);
      showToast('Published again.', 'done', place);
      go(place);
      return undefined;
    }}
  >
    <p>
      A new message is sent at once, with this one’s destination, body and settings.{' '}
      {isDead
        ? 'The dead letter stays: “Retry” sends it again and takes it out.'
        : endedAt === undefined
          ? 'This one still waits, and is delivered, too.'
          : 'This one stays as it is.'}
    </p>
  </ActionForm>
);

function Status({ of, isDead }: Pick<ActionsProps, 'of' | 'isDead'>) {
  const { dlqId, nextDeliveryTime, endedAt, topicName, endpointName, heldBy, completionDeadline } = of;
  return (
    <Card>
      <p class="happened">
        <State state={of.state} />
        <code>
          {of.method} {of.url}
        </code>
      </p>
      <DetailList
        of={[
          ['Published', <Time at={of.createdAt} isExact />],
          [
            'Next delivery',
            heldBy === undefined ? nextDeliveryTime && <Time at={nextDeliveryTime} /> : undefined,
          ],
          ['Waits for its completion', completionDeadline && <Until at={completionDeadline} />],
          ['Ended', exactly(endedAt)],
          ['Held', heldBy && <Held by={heldBy} />],
          [
            'Dead letter',
            isDead && dlqId !== undefined ? (
              <a href={href(['dead-letters', dlqId])}>Retry or inspect the dead letter</a>
            ) : undefined,
          ],
          ['Made from', linkTo('messages', of.retriedFrom)],
          ['Sent again as', linkTo('messages', of.retriedAs)],
          ['Callback of', linkTo('messages', of.callbackOf)],
          ['Attempts', `${of.retried} of at most ${of.maxRetries + 1}`],
          [
            'URL group',
            topicName && (
              <>
                {linkTo('url-groups', topicName)} {endpointName}
              </>
            ),
          ],
          ['Queue', linkTo('queues', of.queueName)],
          ['Schedule', linkTo('schedules', of.scheduleId)],
          ['Workflow run', linkTo('runs', of.workflowRunId)],
          ...settingDetails(of),
          ['Published from', of.callerIp],
        ]}
      />
    </Card>
  );
}

/** Until when an open attempt can be completed. */
const Until = ({ at }: { readonly at: number }) => (
  <>
    until <Time at={at} isExact />; the destination has answered 202
  </>
);

const Held = ({ by: { host, nextProbeAt, lastStatus, lastError } }: { readonly by: Circuit }) => (
  <>
    <a class="in-text" href={href(['flow-control'])}>
      {host}
    </a>{' '}
    {nextProbeAt === undefined ? (
      'answers again; waiting messages are released one by one'
    ) : (
      <>
        is down ({lastError ?? lastStatus}); next probe <Time at={nextProbeAt} />
      </>
    )}
  </>
);

function Callbacks({ ids }: { readonly ids: readonly string[] }) {
  const list = usePages(
    messagePage,
    { path: 'v2/messages', query: { messageIds: ids.join(','), state: 'ALL' } },
    ({ messages }) => messages,
  );
  return (
    <Card title="Callbacks">
      <Listed list={list} empty={<p class="hint">They are no longer kept.</p>}>
        {(callbacks) => <MessageTable caption="Callbacks of this message" of={callbacks} />}
      </Listed>
    </Card>
  );
}
