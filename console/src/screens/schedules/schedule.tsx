/** One schedule: when it fires, what became of its last fire, and what it publishes. */
import { useState } from 'preact/hooks';
import { nothing, publishAnswer, schedule } from '../../../../lambdas/api/answers.ts';
import { useMayWrite } from '../../access.ts';
import { ask, path } from '../../api/client.ts';
import { oftenMs, useAction, useAsked } from '../../api/useAsked.ts';
import { go, href } from '../../place.ts';
import { Button, ButtonLink, Card, countOf, Facts, Failure, Loading, Page, State } from '../../ui/basics.tsx';
import { Body, contentTypeOf, Headers } from '../../ui/body.tsx';
import { Confirm } from '../../ui/dialog.tsx';
import { Time } from '../../ui/time.tsx';
import { hrefOfMessages } from '../messages/links.ts';
import { NextFires, readCron } from './fires.tsx';

/** The address of a schedule. One may be called `new`, as the form's address ends. */
export const hrefOf = (scheduleId: string): string =>
  href(['schedules', scheduleId, ...(scheduleId === 'new' ? ['details'] : [])]);

export function Schedule({ scheduleId }: { readonly scheduleId: string }) {
  const { answer, error, again } = useAsked(schedule, { path: path`v2/schedules/${scheduleId}` }, oftenMs);
  const mayWrite = useMayWrite();
  const [isDeleting, setDeleting] = useState(false);
  const action = useAction();
  const list = href(['schedules']);
  const pause = async (): Promise<string> => {
    const verb = answer?.isPaused === true ? 'resume' : 'pause';
    await ask(nothing, { method: 'POST', path: `${path`v2/schedules/${scheduleId}`}/${verb}` });
    again();
    return verb === 'pause' ? 'The schedule is paused.' : 'The schedule goes on.';
  };
  const run = async (): Promise<string> => {
    const made = await ask(publishAnswer, {
      method: 'POST',
      path: `${path`v2/schedules/${scheduleId}`}/run`,
    });
    const ids = [made].flat().map(({ messageId }) => messageId);
    go(hrefOfMessages(ids, { scheduleId }));
    return `${countOf(ids.length, 'message')} published.`;
  };
  const cron = answer && readCron(answer.cron);
  return (
    <Page
      title={scheduleId}
      back={{ href: list, name: 'Schedules' }}
      actions={
        mayWrite &&
        answer && (
          <>
            <Button kind="main" isBusy={action.isRunning} onClick={() => void action.run(run)}>
              Run now
            </Button>
            <Button isBusy={action.isRunning} onClick={() => void action.run(pause)}>
              {answer.isPaused ? 'Resume' : 'Pause'}
            </Button>
            <ButtonLink href={href(['schedules', scheduleId, 'edit'])}>Edit</ButtonLink>
            <Button
              onClick={() => {
                setDeleting(true);
              }}
            >
              Delete…
            </Button>
          </>
        )
      }
    >
      {error !== undefined && <Failure error={error} again={again} />}
      {answer === undefined && error === undefined && <Loading />}
      {answer && (
        <>
          <Card title="When">
            <Facts
              of={[
                ['Expression', <code>{answer.cron}</code>],
                ['State', <State state={answer.isPaused ? 'paused' : 'active'} />],
                [
                  'Last fire',
                  answer.lastScheduleTime === undefined ? 'never' : <Time at={answer.lastScheduleTime} />,
                ],
              ]}
            />
            {answer.isPaused && <p>It fires at none of these times while it is paused.</p>}
            {typeof cron === 'object' && <NextFires cron={cron} />}
          </Card>
          {answer.lastScheduleStates && (
            <Card title="Messages of the last fire">
              <ul class="rows">
                {Object.entries(answer.lastScheduleStates).map(([id, state]) => (
                  <li key={id}>
                    <State state={state} />{' '}
                    {id.startsWith('msg_') ? <a href={href(['messages', id])}>{id}</a> : id}
                  </li>
                ))}
              </ul>
            </Card>
          )}
          <Card title="What it publishes">
            <Facts
              of={[
                ['Destination', `${answer.method} ${answer.destination}`],
                ['Delay', answer.delay && `${answer.delay} s`],
                ['Retries, at most', answer.retries],
                ['Delay of a retry, in ms', answer.retryDelayExpression],
                ['Timeout', `${answer.timeout} s`],
                ['Queue', answer.queueName],
                ['Labels', answer.labels?.join(', ')],
                ['Flow-control key', answer.flowControlKey],
                ['Callback', answer.callback],
                ['Failure callback', answer.failureCallback],
                ['Created', <Time at={answer.createdAt} isExact />],
                ['Created from', answer.callerIp],
              ]}
            />
            <h3>Headers</h3>
            <Headers of={answer.header} label="headers of the request" />
            <h3>Body</h3>
            <Body
              text={answer.body}
              base64={answer.bodyBase64}
              type={contentTypeOf(answer.header)}
              label="body of the request"
            />
          </Card>
        </>
      )}
      {isDeleting && (
        <Confirm
          title="Delete the schedule?"
          yes="Delete"
          isDangerous
          work={async () => {
            await ask(nothing, { method: 'DELETE', path: path`v2/schedules/${scheduleId}` });
            return `The schedule ${scheduleId} is deleted.`;
          }}
          onClose={(isDone) => {
            setDeleting(false);
            if (isDone) go(list);
          }}
        >
          <p>
            This deletes one schedule, <strong>{scheduleId}</strong>. It fires no more; messages that it has
            published stay.
          </p>
        </Confirm>
      )}
    </Page>
  );
}
