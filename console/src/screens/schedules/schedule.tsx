import { publishAnswer, schedule, type Answer } from '../../../../lambdas/wire/answers.ts';
import { ask, path } from '../../api/client.ts';
import { isSettled, oftenMs, useOnceTrue } from '../../api/useAsked.ts';
import { href } from '../../place.ts';
import { Act, Deletes } from '../../ui/action.tsx';
import { ResourcePage } from '../../ui/resourcePage.tsx';
import { ButtonLink, Card, countOf, DetailList, Loading, State } from '../../ui/basics.tsx';
import { RequestView } from '../../ui/body.tsx';
import { settingDetails } from '../../ui/settings.tsx';
import { duration, Time } from '../../ui/time.tsx';
import { showAt } from '../../ui/toast.tsx';
import { LastFires, NextFires, useExplained, useLastFires, WhyFailed, worstOf } from './fires.tsx';
import { TrailCard } from '../audit/audit.tsx';
import { Pause } from '../lanes/parts.tsx';
import { hrefOfMessages } from '../links.tsx';

const list = href(['schedules']);

export const Schedule = ({ scheduleId }: { readonly scheduleId: string }) => (
  <ResourcePage
    shape={schedule}
    path={path`v2/schedules/${scheduleId}`}
    everyMs={oftenMs}
    title={scheduleId}
    back={{ href: list, name: 'Schedules' }}
    actions={(of, again) => (
      <>
        <Act name="Run now" kind="main" work={() => run(scheduleId)} />
        <Pause of="schedules" name={scheduleId} isPaused={of.isPaused} then={again} />
        <ButtonLink href={href(['schedules', scheduleId, 'edit'])}>Edit</ButtonLink>
        <Deletes
          name="Delete…"
          title="Delete 1 schedule?"
          yes="Delete"
          effect={[<strong>{scheduleId}</strong>, ' no longer fires. Its published messages stay.']}
          request={{ path: path`v2/schedules/${scheduleId}` }}
          said={`The schedule ${scheduleId} has been deleted.`}
          leadsTo={list}
        />
      </>
    )}
  >
    {(of) => <Details of={of} />}
  </ResourcePage>
);

async function run(scheduleId: string): Promise<undefined> {
  const made = await ask(publishAnswer, { method: 'POST', path: path`v2/schedules/${scheduleId}/run` });
  const ids = [made].flat().map(({ messageId }) => messageId);
  showAt(hrefOfMessages(ids, { scheduleId }), `${countOf(ids.length, 'message')} published.`);
}

const secondMs = 1_000;

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
      <Card title="Message to publish">
        <p class="happened row">
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
      <TrailCard of={of.scheduleId} kind="schedule" />
    </>
  );
}
