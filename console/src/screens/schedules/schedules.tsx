/** Schedules: messages that are published at regular times. */
import { schedules, type Answer, type schedule } from '../../../../lambdas/wire/answers.ts';
import { useMayWrite } from '../../access.ts';
import { usePages } from '../../api/useAsked.ts';
import { href, type Place } from '../../place.ts';
import { ButtonLink, Cut, Empty, Page, State } from '../../ui/basics.tsx';
import { Listed, Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { EditSchedule, NewSchedule } from './form.tsx';
import { hrefOf, Schedule } from './schedule.tsx';

export function Schedules({ place }: { readonly place: Place }) {
  const [, scheduleId, part] = place.path;
  const mayWrite = useMayWrite();
  if (scheduleId === undefined) return <List />;
  if (part === undefined && scheduleId === 'new') return mayWrite ? <NewSchedule /> : <List />;
  if (part === 'edit' && mayWrite) return <EditSchedule scheduleId={scheduleId} />;
  return <Schedule scheduleId={scheduleId} />;
}

function List() {
  const list = usePages(schedules, { path: 'v2/schedules' }, (page) => page);
  const mayWrite = useMayWrite();
  const create = mayWrite && (
    <ButtonLink kind="main" href={href(['schedules', 'new'])}>
      New schedule
    </ButtonLink>
  );
  return (
    <Page title="Schedules" actions={create}>
      <Listed
        list={list}
        empty={
          <Empty title="No schedules yet.">
            A schedule publishes a message again and again, as a cron expression says.
          </Empty>
        }
      >
        {(items) => (
          <Table
            caption="Schedules by id"
            rows={items}
            keyOf={({ scheduleId }) => scheduleId}
            columns={[
              {
                head: 'Schedule',
                isWide: true,
                cell: ({ scheduleId, method, destination }) => (
                  <div>
                    <a href={hrefOf(scheduleId)}>
                      <Cut text={scheduleId} />
                    </a>
                    <span class="hint">
                      <Cut text={`${method} ${destination}`} />
                    </span>
                  </div>
                ),
              },
              { head: 'Expression', isWide: true, cell: ({ cron }) => <Cut text={cron} isCode /> },
              { head: 'Last fire', cell: (one) => <LastFire of={one} /> },
              {
                head: 'Next fire',
                cell: ({ nextScheduleTime: next }) =>
                  next === undefined ? <State state="paused" /> : <Time at={next} />,
              },
            ]}
          />
        )}
      </Listed>
    </Page>
  );
}

/** The states of a fire's messages, the most important first. */
const states = ['FAIL', 'IN_PROGRESS', 'SUCCESS'] as const;

function LastFire({
  of: { lastScheduleTime: at, lastScheduleStates = {} },
}: {
  readonly of: Answer<typeof schedule>;
}) {
  if (at === undefined) return <>never</>;
  const all = Object.values(lastScheduleStates);
  const state = states.find((one) => all.includes(one));
  return (
    <span>
      {state && <State state={state} />} <Time at={at} />
    </span>
  );
}
