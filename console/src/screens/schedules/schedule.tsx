/** One schedule: when it fires, what became of its last fire, and what it publishes. */
import { publishAnswer, schedule, type Answer } from '../../../../lambdas/wire/answers.ts';
import { useMayWrite } from '../../access.ts';
import { ask, path } from '../../api/client.ts';
import { oftenMs, useAction, useAsked } from '../../api/useAsked.ts';
import { go, href } from '../../place.ts';
import { Act, change, Opens, Shown } from '../../ui/act.tsx';
import { Button, ButtonLink, Card, countOf, Facts, Page, State } from '../../ui/basics.tsx';
import { RequestShown } from '../../ui/body.tsx';
import { Confirm } from '../../ui/dialog.tsx';
import { settingFacts } from '../../ui/settings.tsx';
import { Time } from '../../ui/time.tsx';
import { showToast } from '../../ui/toast.tsx';
import { hrefOfMessages } from '../messages/links.ts';
import { NextFires, useExplained } from './fires.tsx';

/** The address of a schedule. One may be called `new`, as the form's address ends. */
export const hrefOf = (scheduleId: string): string =>
  href(['schedules', scheduleId, ...(scheduleId === 'new' ? ['details'] : [])]);

export function Schedule({ scheduleId }: { readonly scheduleId: string }) {
  const asked = useAsked(schedule, { path: path`v2/schedules/${scheduleId}` }, oftenMs);
  const mayWrite = useMayWrite();
  return (
    <Page
      title={scheduleId}
      back={{ href: list, name: 'Schedules' }}
      actions={mayWrite && asked.answer && <Actions of={asked.answer} again={asked.again} />}
    >
      <Shown of={asked}>{(shown) => <Details of={shown} />}</Shown>
    </Page>
  );
}

const list = href(['schedules']);

interface ActionsProps {
  readonly of: Answer<typeof schedule>;
  readonly again: () => void;
}

function Actions({ of: { scheduleId, isPaused }, again }: ActionsProps) {
  const action = useAction();
  const run = async (): Promise<undefined> => {
    const made = await ask(publishAnswer, { method: 'POST', path: path`v2/schedules/${scheduleId}/run` });
    const ids = [made].flat().map(({ messageId }) => messageId);
    const place = hrefOfMessages(ids, { scheduleId });
    showToast(`${countOf(ids.length, 'message')} published.`, 'done', place);
    go(place);
  };
  return (
    <>
      <Button kind="main" isBusy={action.isRunning} onClick={() => void action.run(run)}>
        Run now
      </Button>
      <Act
        request={{ path: path`v2/schedules/${scheduleId}/${isPaused ? 'resume' : 'pause'}` }}
        said={isPaused ? 'The schedule goes on.' : 'The schedule is paused.'}
        then={again}
      >
        {isPaused ? 'Resume' : 'Pause'}
      </Act>
      <ButtonLink href={href(['schedules', scheduleId, 'edit'])}>Edit</ButtonLink>
      <Opens
        name="Delete…"
        then={() => {
          go(list);
        }}
      >
        {(onClose) => (
          <Confirm
            title="Delete 1 schedule?"
            yes="Delete"
            isDangerous
            work={async () => {
              await change({ method: 'DELETE', path: path`v2/schedules/${scheduleId}` });
              return `The schedule ${scheduleId} is deleted.`;
            }}
            onClose={onClose}
          >
            <p>
              <strong>{scheduleId}</strong> fires no more. Messages that it has published stay.
            </p>
          </Confirm>
        )}
      </Opens>
    </>
  );
}

function Details({ of }: { readonly of: Answer<typeof schedule> }) {
  const { answer: explained } = useExplained(of.cron);
  return (
    <>
      <Card title="When">
        <Facts
          of={[
            ['Expression', <code>{of.cron}</code>],
            ['State', <State state={of.isPaused ? 'paused' : 'active'} />],
            ['Last fire', of.lastScheduleTime === undefined ? 'never' : <Time at={of.lastScheduleTime} />],
          ]}
        />
        {of.isPaused && <p>It fires at none of these times while it is paused.</p>}
        {explained && <NextFires of={explained} />}
      </Card>
      {of.lastScheduleStates && (
        <Card title="Messages of the last fire">
          <ul>
            {Object.entries(of.lastScheduleStates).map(([id, state]) => (
              <li key={id} class="happened">
                <State state={state} />
                {id.startsWith('msg_') ? <a href={href(['messages', id])}>{id}</a> : id}
              </li>
            ))}
          </ul>
        </Card>
      )}
      <Card title="What it publishes">
        <Facts
          of={[
            ['Destination', `${of.method} ${of.destination}`],
            ['Delay', of.delay && `${of.delay} s`],
            ['Queue', of.queueName],
            ...settingFacts({ ...of, maxRetries: of.retries }),
            ['Created', <Time at={of.createdAt} isExact />],
            ['Created from', of.callerIp],
          ]}
        />
        <RequestShown of={of} />
      </Card>
    </>
  );
}
