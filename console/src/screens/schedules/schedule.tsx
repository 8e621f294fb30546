import { publishAnswer, schedule, type Answer } from '../../../../lambdas/wire/answers.ts';
import { useMayWrite } from '../../access.ts';
import { ask, path } from '../../api/client.ts';
import { isSettled, defaultIntervalMs, useAction, useAsked, useOnceTrue } from '../../api/useAsked.ts';
import { go, href } from '../../place.ts';
import { Act, change, Opens, Loaded } from '../../ui/act.tsx';
import { Button, ButtonLink, Card, countOf, DetailList, Loading, Page, State } from '../../ui/basics.tsx';
import { RequestView } from '../../ui/body.tsx';
import { Confirm } from '../../ui/dialog.tsx';
import { settingDetails } from '../../ui/settings.tsx';
import { duration, Time } from '../../ui/time.tsx';
import { showToast } from '../../ui/toast.tsx';
import { hrefOfMessages } from '../messages/links.ts';
import { LastFires, useLastFires, WhyFailed, worstOf } from './lastFires.tsx';
import { NextFires, useExplained } from './fires.tsx';

export function Schedule({ scheduleId }: { readonly scheduleId: string }) {
  const asked = useAsked(schedule, { path: path`v2/schedules/${scheduleId}` }, defaultIntervalMs);
  const mayWrite = useMayWrite();
  return (
    <Page
      title={scheduleId}
      back={{ href: list, name: 'Schedules' }}
      actions={mayWrite && asked.answer && <Actions of={asked.answer} again={asked.again} />}
    >
      <Loaded of={asked}>{(shown) => <Details of={shown} />}</Loaded>
    </Page>
  );
}

const list = href(['schedules']);

const secondMs = 1_000;

interface ActionsProps {
  readonly of: Answer<typeof schedule>;
  readonly again: () => void;
}

export function Pause({
  of: { scheduleId, isPaused },
  then,
  isQuiet = false,
}: {
  readonly of: Answer<typeof schedule>;
  readonly then: () => void;
  readonly isQuiet?: boolean;
}) {
  const verb = isPaused ? 'Resume' : 'Pause';
  return (
    <Act
      request={{ path: path`v2/schedules/${scheduleId}/${verb.toLowerCase()}` }}
      said={isPaused ? 'The schedule is resumed.' : 'The schedule is paused.'}
      then={then}
      kind={isQuiet ? 'quiet' : 'plain'}
      label={isQuiet ? `${verb} ${scheduleId}` : undefined}
    >
      {verb}
    </Act>
  );
}

function Actions({ of, again }: ActionsProps) {
  const { scheduleId } = of;
  const action = useAction('toast');
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
      <Pause of={of} then={again} />
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
              <strong>{scheduleId}</strong> no longer fires. Its published messages stay.
            </p>
          </Confirm>
        )}
      </Opens>
    </>
  );
}

function Details({ of }: { readonly of: Answer<typeof schedule> }) {
  const explained = useExplained(of.cron);
  const fires = useLastFires(of);
  const hasFired = of.lastScheduleTime !== undefined;
  const isShown = useOnceTrue(isSettled(explained) && (!hasFired || isSettled(fires)));
  if (!isShown) return <Loading />;
  return (
    <>
      <Card title="When">
        <DetailList
          of={[
            ['Expression', <code>{of.cron}</code>],
            ['State', <State state={of.isPaused ? 'paused' : 'active'} />],
            [
              'Last fire',
              hasFired ? (
                worstOf(of.lastScheduleStates) === 'FAIL' ? (
                  <WhyFailed of={of} />
                ) : undefined
              ) : (
                'never'
              ),
            ],
          ]}
        />
        {of.isPaused && <p>It does not fire at these times while it is paused.</p>}
        {explained.answer && <NextFires of={explained.answer} />}
      </Card>
      {hasFired && <LastFires scheduleId={of.scheduleId} of={fires} />}
      <Card title="What it publishes">
        <p class="happened">
          <code>
            {of.method} {of.destination}
          </code>
        </p>
        <DetailList
          of={[
            ['Delay', of.delay && duration(of.delay * secondMs)],
            ['Queue', of.queueName],
            ...settingDetails({ ...of, maxRetries: of.retries }),
            ['Created', <Time at={of.createdAt} isExact />],
            ['Created from', of.callerIp],
          ]}
        />
        <RequestView of={of} />
      </Card>
    </>
  );
}
