/** One message: its status, its history, and the actions on it. */
import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type * as z from 'zod/mini';
import {
  deadLetterPage,
  logPage,
  messageIdAnswer,
  messageInAnyState,
  messagePage,
} from '../../../../lambdas/wire/answers.ts';
import type { Readable } from '../../../../lambdas/options/option.ts';
import { useMayWrite } from '../../access.ts';
import { ask, baseUrl, path } from '../../api/client.ts';
import { oftenMs, useAction, useAsked, usePages } from '../../api/useAsked.ts';
import { go, href } from '../../place.ts';
import {
  Button,
  ButtonLink,
  Card,
  Copy,
  DetailList,
  Failure,
  Loading,
  Page,
  State,
} from '../../ui/basics.tsx';
import { RequestView } from '../../ui/body.tsx';
import { change, Opens } from '../../ui/act.tsx';
import { Confirm } from '../../ui/dialog.tsx';
import { settingDetails } from '../../ui/settings.tsx';
import { Listed } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { showToast } from '../../ui/toast.tsx';
import { curlOf } from '../publish/curl.ts';
import { draftOf } from '../publish/draft.ts';
import { Happened } from './happened.tsx';
import { MessageTable } from './messageTable.tsx';
import { happeningsOf } from './timeline.ts';

type Message = Readable<z.infer<typeof messageInAnyState>>;

export function MessageDetail({ messageId }: { readonly messageId: string }) {
  const [isOver, setOver] = useState(false);
  // The log of an ended message does not change.
  const log = usePages(
    logPage,
    { path: 'v2/logs', query: { messageIds: messageId } },
    ({ logs }) => logs,
    isOver ? 0 : oftenMs,
  );
  const newest = log.items?.[0];
  // The message, which may be large, is loaded after the log, and again when the log has new entries: so it never shows less.
  const { answer, error, again } = useAsked(
    messageInAnyState,
    log.items && { path: path`v2/messages/${messageId}`, query: { state: 'ALL' } },
    undefined,
    newest && `${newest.time} ${newest.state}`,
  );
  const hasEnded = answer?.endedAt !== undefined;
  useEffect(() => {
    setOver(hasEnded);
  }, [hasEnded]);
  return (
    <Page
      title={messageId}
      back={{ href: href(['messages']), name: 'Messages' }}
      actions={answer && <Actions of={answer} again={log.again} />}
    >
      {error !== undefined && <Failure error={error} again={again} />}
      {answer === undefined && error === undefined && log.error === undefined && <Loading />}
      {answer && (
        <>
          <Status of={answer} />
          <Card title="What happened">
            <Listed list={log} empty={<p class="hint">The log does not have it any more.</p>}>
              {(entries) => (
                <ol class="timeline">
                  {happeningsOf(entries).map((one, index) => (
                    <Happened key={`${one.last.state} ${one.at}`} one={one} isOpen={index === 0} />
                  ))}
                </ol>
              )}
            </Listed>
          </Card>
          {answer.callbackIds.length > 0 && <Callbacks ids={answer.callbackIds} />}
          <Card title="Request">
            <RequestView of={answer} />
          </Card>
        </>
      )}
      {log.error !== undefined && answer === undefined && <Failure error={log.error} again={log.again} />}
    </Page>
  );
}

function Actions({ of, again }: { readonly of: Message; readonly again: () => void }) {
  const mayWrite = useMayWrite();
  const action = useAction();
  const { messageId, workflowRunId } = of;
  const publishAgain = async (): Promise<undefined> => {
    const made = await ask(messageIdAnswer, { method: 'POST', path: path`v2/messages/${messageId}/publish` });
    const place = href(['messages', made.messageId]);
    showToast('Published again.', 'done', place);
    go(place);
  };
  const cancel = async (): Promise<string> => {
    await change({ method: 'DELETE', path: path`v2/messages/${messageId}` });
    return 'The message is cancelled.';
  };
  return (
    <>
      <Copy text={messageId}>Copy the id</Copy>
      <Copy text={() => curlOf(draftOf(of, Date.now()), baseUrl)}>Copy as curl</Copy>
      {/* A message of a run is published and cancelled by its run. */}
      {mayWrite && workflowRunId === undefined && (
        <>
          {of.endedAt === undefined && (
            <Opens name="Cancel" then={again}>
              {(onClose) => (
                <Confirm
                  title="Cancel 1 message?"
                  yes="Cancel the message"
                  isDangerous
                  work={cancel}
                  onClose={onClose}
                >
                  <p>It will not be delivered. An attempt that is in flight may still arrive.</p>
                </Confirm>
              )}
            </Opens>
          )}
          <ButtonLink href={href(['publish'], { message: messageId })}>Edit and publish</ButtonLink>
          <Button kind="main" isBusy={action.isRunning} onClick={() => void action.run(publishAgain)}>
            Publish again
          </Button>
        </>
      )}
    </>
  );
}

/** Links to the screen of something by its name, if it has one. */
const named = (screen: string, name: string | undefined): ComponentChildren | undefined =>
  name === undefined ? undefined : <a href={href([screen, name])}>{name}</a>;

function Status({ of }: { readonly of: Message }) {
  const { dlqId, nextDeliveryTime, endedAt, topicName, endpointName } = of;
  const deadLetter = useAsked(
    deadLetterPage,
    dlqId === undefined ? undefined : { path: 'v2/dlq', query: { dlqIds: dlqId } },
  );
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
          ['Next delivery', nextDeliveryTime && <Time at={nextDeliveryTime} />],
          ['Ended', endedAt && <Time at={endedAt} isExact />],
          [
            'Dead letter',
            deadLetter.answer?.messages[0] && (
              <a href={href(['dead-letters', dlqId ?? ''])}>Look at it, or send it again</a>
            ),
          ],
          ['Attempts', `${of.retried} of at most ${of.maxRetries + 1}`],
          [
            'URL group',
            topicName && (
              <>
                {named('url-groups', topicName)} {endpointName}
              </>
            ),
          ],
          ['Queue', named('queues', of.queueName)],
          ['Schedule', named('schedules', of.scheduleId)],
          ['Workflow run', named('runs', of.workflowRunId)],
          ...settingDetails(of),
          ['Published from', of.callerIp],
        ]}
      />
    </Card>
  );
}

/** The callback messages about this message. */
function Callbacks({ ids }: { readonly ids: readonly string[] }) {
  const list = usePages(
    messagePage,
    { path: 'v2/messages', query: { messageIds: ids.join(','), state: 'ALL' } },
    ({ messages }) => messages,
  );
  return (
    <Card title="Callbacks">
      <Listed list={list} empty={<p class="hint">They are not kept any more.</p>}>
        {(callbacks) => <MessageTable caption="Callbacks of this message" of={callbacks} />}
      </Listed>
    </Card>
  );
}
