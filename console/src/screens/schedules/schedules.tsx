import { schedules, type Answer, type schedule } from '../../../../lambdas/wire/answers.ts';
import { useMayWrite } from '../../access.ts';
import { usePages } from '../../api/useAsked.ts';
import { ListTable } from '../../lists/resourceList.tsx';
import { href, type Place } from '../../place.ts';
import { ButtonLink, count, Page, State } from '../../ui/basics.tsx';
import { FilterBar, filtersOf, isFiltered, type FilterField } from '../../ui/filters.tsx';
import { Time } from '../../ui/time.tsx';
import { nameOfZone, WhyFailed, worstOf } from './fires.tsx';
import { EditSchedule, NewSchedule } from './form.tsx';
import { Schedule } from './schedule.tsx';
import { Pause } from '../lanes/parts.tsx';
import { hrefOfSchedule } from '../links.tsx';

type One = Answer<typeof schedule>;

export function Schedules({ place }: { readonly place: Place }) {
  const [, scheduleId, part] = place.path;
  const mayWrite = useMayWrite();
  if (scheduleId === undefined) return <List place={place} />;
  if (part === undefined && scheduleId === 'new') return mayWrite ? <NewSchedule /> : <List place={place} />;
  if (part === 'edit' && mayWrite) return <EditSchedule scheduleId={scheduleId} />;
  return <Schedule scheduleId={scheduleId} />;
}

const search: FilterField = {
  name: 'search',
  label: 'Schedule',
  placeholder: 'Part of its id or destination',
  isMain: true,
};
/** The API cannot filter or sort schedules, so these apply to the loaded ones. */
const fields: readonly FilterField[] = [
  search,
  {
    name: 'show',
    label: 'Show',
    isMain: true,
    options: [
      ['', 'All'],
      ['failing', 'Failing'],
      ['paused', 'Paused'],
    ],
  },
  {
    name: 'sort',
    label: 'Sort by',
    isMain: true,
    options: [
      ['', 'Id'],
      ['next', 'Next fire'],
    ],
  },
];

const isFailing = ({ lastScheduleStates }: One): boolean => worstOf(lastScheduleStates) === 'FAIL';

function chosen(all: readonly One[], { query }: Place): readonly One[] {
  const show = query.get('show');
  const shown = all.filter(
    (one) => (show !== 'failing' || isFailing(one)) && (show !== 'paused' || one.isPaused),
  );
  const next = ({ nextScheduleTime = Infinity }: One): number => nextScheduleTime;
  return query.get('sort') === 'next' ? shown.toSorted((one, other) => next(one) - next(other)) : shown;
}

/** The search is shown if there are this many schedules. */
const many = 8;

function List({ place }: { readonly place: Place }) {
  const list = usePages(
    schedules,
    { path: 'v2/schedules', query: filtersOf(place, [search]) },
    (page) => page,
  );
  const items = list.items && chosen(list.items, place);
  const isPart = list.more !== undefined && (place.query.has('show') || place.query.has('sort'));
  const hasFilters =
    isFiltered(place, fields) || (list.items ?? []).length >= many || list.more !== undefined;
  const create = useMayWrite() && (
    <ButtonLink kind="main" href={href(['schedules', 'new'])}>
      New schedule
    </ButtonLink>
  );
  return (
    <Page title="Schedules" actions={create}>
      {hasFilters && <FilterBar place={place} fields={fields} />}
      {isPart && (
        <p class="hint">Only the {count(list.items?.length ?? 0)} schedules that are loaded are searched.</p>
      )}
      <ListTable
        list={{ ...list, items }}
        place={place}
        fields={fields}
        noMatch="No schedule matches these filters."
        empty={[
          'No schedules yet.',
          'A schedule publishes a message repeatedly, according to a cron expression.',
        ]}
        caption="Schedules by id"
        keyOf={({ scheduleId }) => scheduleId}
        columns={[
          {
            head: 'Schedule',
            text: ({ scheduleId }) => scheduleId,
            to: ({ scheduleId }) => hrefOfSchedule(scheduleId),
            hint: ({ method, destination }) => `${method} ${destination}`,
          },
          {
            head: 'Fires',
            text: ({ cronInWords }) => cronInWords,
            hint: ({ cron, timezone }) => `${nameOfZone(timezone)} · ${cron.replace(/^CRON_TZ=\S+\s+/, '')}`,
          },
          { head: 'Last fire', cell: (one) => <LastFire of={one} /> },
          {
            head: 'Next fire',
            cell: ({ nextScheduleTime: next }) =>
              next === undefined ? <State state="paused" /> : <Time at={next} />,
          },
        ]}
        acts={({ scheduleId, isPaused }, again) => (
          <Pause of="schedules" name={scheduleId} isPaused={isPaused} then={again} isQuiet />
        )}
      />
    </Page>
  );
}

function LastFire({ of }: { readonly of: One }) {
  const { lastScheduleTime: at, lastScheduleStates = {} } = of;
  if (at === undefined) return <>never</>;
  const state = worstOf(lastScheduleStates);
  return (
    <div>
      {state && <State state={state} />} <Time at={at} />
      {state === 'FAIL' && <WhyFailed of={of} />}
    </div>
  );
}
