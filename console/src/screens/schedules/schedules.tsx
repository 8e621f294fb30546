/** Schedules: messages that are published at regular times. */
import { schedules, type Answer, type schedule } from '../../../../lambdas/wire/answers.ts';
import { useMayWrite } from '../../access.ts';
import { usePages } from '../../api/useAsked.ts';
import { href, type Place } from '../../place.ts';
import { ButtonLink, Cut, Empty, Page, State } from '../../ui/basics.tsx';
import { FilterBar, filtersOf, isFiltered, type FilterField } from '../../ui/filters.tsx';
import { Listed, Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { worstOf } from './lastFires.tsx';
import { EditSchedule, NewSchedule } from './form.tsx';
import { hrefOf } from './links.ts';
import { Schedule } from './schedule.tsx';

export function Schedules({ place }: { readonly place: Place }) {
  const [, scheduleId, part] = place.path;
  const mayWrite = useMayWrite();
  if (scheduleId === undefined) return <List place={place} />;
  if (part === undefined && scheduleId === 'new') return mayWrite ? <NewSchedule /> : <List place={place} />;
  if (part === 'edit' && mayWrite) return <EditSchedule scheduleId={scheduleId} />;
  return <Schedule scheduleId={scheduleId} />;
}

const fields: readonly FilterField[] = [
  { name: 'search', label: 'Schedule', placeholder: 'A part of its id or destination', isMain: true },
];

/** The number of schedules from which on a search is of use. */
const many = 8;

function List({ place }: { readonly place: Place }) {
  const list = usePages(schedules, { path: 'v2/schedules', query: filtersOf(place, fields) }, (page) => page);
  const isSearched = isFiltered(place, fields);
  const mayWrite = useMayWrite();
  const create = mayWrite && (
    <ButtonLink kind="main" href={href(['schedules', 'new'])}>
      New schedule
    </ButtonLink>
  );
  return (
    <Page title="Schedules" actions={create}>
      {(isSearched || (list.items ?? []).length >= many || list.more !== undefined) && (
        <FilterBar place={place} fields={fields} />
      )}
      <Listed
        list={list}
        empty={
          isSearched ? (
            <Empty title="No schedule has this in its id or destination." />
          ) : (
            <Empty title="No schedules yet.">
              A schedule publishes a message again and again, as a cron expression says.
            </Empty>
          )
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
              {
                head: 'Fires',
                isWide: true,
                cell: ({ cron, cronInWords, timezone }) => (
                  <div>
                    <Cut text={cronInWords} />
                    <span class="hint">
                      <Cut text={`${timezone} · ${cron.replace(/^CRON_TZ=\S+\s+/, '')}`} />
                    </span>
                  </div>
                ),
              },
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

function LastFire({
  of: { lastScheduleTime: at, lastScheduleStates = {} },
}: {
  readonly of: Answer<typeof schedule>;
}) {
  if (at === undefined) return <>never</>;
  const state = worstOf(lastScheduleStates);
  return (
    <span>
      {state && <State state={state} />} <Time at={at} />
    </span>
  );
}
