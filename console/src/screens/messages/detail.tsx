import { useState } from 'preact/hooks';
import { deadLetterPage, messageInAnyState, type Answer } from '../../../../lambdas/wire/answers.ts';
import { path } from '../../api/client.ts';
import { isSettled, oftenMs, useAsked, useOnceTrue } from '../../api/useAsked.ts';
import { href } from '../../place.ts';
import { Card, DetailList, Failure, Loading, Page, State } from '../../ui/basics.tsx';
import { RequestView } from '../../ui/body.tsx';
import { settingDetails } from '../../ui/settings.tsx';
import { Time, exactly } from '../../ui/time.tsx';
import { linkTo } from '../links.tsx';
import { Actions } from './actions.tsx';
import { History, useLog } from './history.tsx';
import { attemptsOf, MessageCard } from './messageTable.tsx';

const minuteMs = 60_000;

type Message = Answer<typeof messageInAnyState>;

export function MessageDetail({ messageId }: { readonly messageId: string }) {
  const [isOver, setOver] = useState(false);
  const [isHeld, setHeld] = useState(false);
  // The log of an ended message does not change.
  const log = useLog(messageId, isOver ? 0 : oftenMs);
  const newest = log.items?.[0];
  // Loaded after the log because it may be large, and again when the log has new entries. While the host is
  // failing, the time of the next probe changes without one.
  const { answer, error, again } = useAsked(
    messageInAnyState,
    log.items && { path: path`v2/messages/${messageId}`, query: { state: 'ALL' } },
    isHeld ? oftenMs : undefined,
    newest && `${newest.time} ${newest.state}`,
  );
  const dlqId = answer?.dlqId;
  const letters = useAsked(
    deadLetterPage,
    dlqId === undefined ? undefined : { path: 'v2/dlq', query: { dlqIds: dlqId } },
    // The dead letter is written slightly after the attempt's log entry.
    answer?.endedAt !== undefined && Date.now() - answer.endedAt < minuteMs ? oftenMs : 0,
  );
  const isDead = letters.answer?.messages[0] !== undefined;
  // Shown when the dead letter is loaded, whose button would otherwise move the others.
  const shown = useOnceTrue(answer !== undefined && (dlqId === undefined || isSettled(letters)))
    ? answer
    : undefined;
  const hasEnded = answer?.endedAt !== undefined;
  const waitsForHost = answer?.heldBy !== undefined;
  if (hasEnded !== isOver) setOver(hasEnded);
  if (waitsForHost !== isHeld) setHeld(waitsForHost);
  return (
    <Page
      title={messageId}
      back={{ href: href(['messages']), name: 'Messages' }}
      actions={shown && <Actions of={shown} isDead={isDead} then={log.again} />}
    >
      {error !== undefined && <Failure error={error} again={again} />}
      {shown === undefined && error === undefined && log.error === undefined && <Loading />}
      {shown && (
        <>
          <Status of={shown} isDead={isDead} />
          <History of={log} isOpen />
          {shown.callbackIds.length > 0 && (
            <MessageCard
              title="Callbacks"
              caption="Callbacks of this message"
              query={{ messageIds: shown.callbackIds.join(','), state: 'ALL' }}
              empty={() => 'They are no longer kept.'}
            />
          )}
          <Card title="Request">
            <RequestView of={shown} />
          </Card>
        </>
      )}
      {log.error !== undefined && answer === undefined && <Failure error={log.error} again={log.again} />}
    </Page>
  );
}

function Status({ of, isDead }: { readonly of: Message; readonly isDead: boolean }) {
  const { dlqId, nextDeliveryTime, endedAt, topicName, endpointName, heldBy, completionDeadline } = of;
  return (
    <Card>
      <p class="happened row">
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
          ['Waits for an answer', completionDeadline && <Until at={completionDeadline} />],
          ['Ended', exactly(endedAt)],
          ['Held', heldBy && <Held by={heldBy} />],
          [
            'Dead letter',
            isDead && dlqId !== undefined ? (
              <a href={href(['dead-letters', dlqId])}>Retry or inspect the dead letter</a>
            ) : undefined,
          ],
          ['Created from', linkTo('messages', of.retriedFrom)],
          ['Sent again as', linkTo('messages', of.retriedAs)],
          ['Callback of', linkTo('messages', of.callbackOf)],
          ['Attempts', attemptsOf(of)],
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

const Until = ({ at }: { readonly at: number }) => (
  <>
    until <Time at={at} isExact />; the destination has answered 202
  </>
);

const Held = ({
  by: { host, nextProbeAt, lastStatus, lastError },
}: {
  readonly by: NonNullable<Message['heldBy']>;
}) => (
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
