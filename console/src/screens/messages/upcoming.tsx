/** Waiting messages by the time at which they are due, and the next fires of schedules. */
import { useState } from 'preact/hooks';
import {
  cancelled,
  messagePage,
  nothing,
  schedules,
  type Answer,
  type listedMessage,
} from '../../../../lambdas/wire/answers.ts';
import { chunksOf } from '../../../../lambdas/shared/lists.ts';
import { useMayWrite } from '../../access.ts';
import { ask, pagesOf, path, sentenceOf } from '../../api/client.ts';
import { usePages } from '../../api/useAsked.ts';
import { ListTable, ResourceList } from '../../lists/resourceList.tsx';
import { href, type Place } from '../../place.ts';
import { ActionForm } from '../../ui/action.tsx';
import { ButtonLink, Card, count, countOf } from '../../ui/basics.tsx';
import { Bars } from '../../ui/charts.tsx';
import { destinationFields, FilterChoices, filtersOf, originFields, valuesIn } from '../../ui/filters.tsx';
import { timeToMinute } from '../../ui/time.tsx';
import { hrefOfSchedule } from '../links.tsx';

type Message = Answer<typeof listedMessage>;

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
/** The periods to choose from, each with the length and number of its bars. */
const periods = [
  ['hour', 'Hour', 5 * minuteMs, 12, 'in 5 min'],
  ['', 'Day', hourMs, 24, 'in 1 h'],
  ['week', 'Week', 6 * hourMs, 28, 'in 6 h'],
] as const;

const fields = [
  ...destinationFields,
  ...originFields.map((field) => ({ ...field, isMain: field.name === 'queueName' })),
];

const dueAt = ({ nextDeliveryTime, completionDeadline }: Message): number | undefined =>
  nextDeliveryTime ?? completionDeadline;

function whatOf({ state, retried, debounced, scheduleId }: Message): string {
  if (state === 'ACTIVE') return 'Deferred, fails then';
  if (state === 'RETRY') return `Retry ${retried}`;
  if (debounced === true) return 'End of debounce';
  return scheduleId === undefined ? 'First attempt' : 'First attempt, of a schedule';
}

export function Upcoming({ place }: { readonly place: Place }) {
  const chosen = place.query.get('over') ?? '';
  const [over, , stepMs, steps, per] = periods.find(([value]) => value === chosen) ?? periods[1];
  // Rounded to a whole step, so that the request stays the same for a while.
  const from = Math.floor(Date.now() / stepMs) * stepMs;
  const to = from + steps * stepMs - 1;
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const mayWrite = useMayWrite();
  return (
    <ResourceList
      title="Upcoming"
      isSticky
      place={place}
      fields={fields}
      shape={messagePage}
      path="v2/messages"
      query={{ order: 'due', from: String(from), to: String(to), steps: String(steps) }}
      rowsOf={({ messages }) => messages}
      valuesOf={valuesIn}
      file="upcoming"
      selection={mayWrite ? { selected, onChange: setSelected } : undefined}
      nameOf={({ url, messageId }) => `${url} ${messageId}`}
      actions={({ items = [], again }) => {
        // Messages that have ended are no longer selected.
        const of = items.filter(({ messageId }) => selected.has(messageId));
        return (
          of.length > 0 && (
            <Acts
              of={of}
              then={() => {
                setSelected(new Set());
                again();
              }}
            />
          )
        );
      }}
      below={(_list, page) => (
        <>
          <Card title="Due" actions={<FilterChoices filter="over" of={periods} chosen={over} />}>
            {page?.steps && (
              <Bars
                title={`${countOf(page.count, 'message')} due until ${timeToMinute(to)}`}
                names={page.steps.map((step) => timeToMinute(step.from))}
                per={per}
                series={[{ name: 'due', tone: 'busy', values: page.steps.map((step) => step.count) }]}
              />
            )}
            <p class="hint">
              {page?.isWhole === false &&
                'Not all waiting messages are read yet: later ones may be missing. '}
              Messages that are due since {timeToMinute(from)} and have not ended are included.
            </p>
          </Card>
          <Fires place={place} from={from} to={to} />
        </>
      )}
      noMatch="No message that matches these filters is due in this period."
      empty={['Nothing is due in this period.']}
      caption="Messages by the time at which they are due, the earliest first"
      keyOf={({ messageId }) => messageId}
      columns={[
        { head: 'Due', time: dueAt },
        { head: 'Kind', cell: whatOf },
        {
          head: 'Destination',
          address: ({ method, url }) => `${method} ${url}`,
          to: ({ messageId }) => href(['messages', messageId]),
        },
        { head: 'Label', labels: ({ labels }) => labels },
      ]}
      acts={(one, again) => <Acts of={[one]} then={again} isQuiet />}
    />
  );
}

/** Parallel requests of a bulk change. */
const atOnce = 10;

/**
 * Moves messages one by one. Messages that can no longer be moved are skipped, and the first refusal is
 * shown.
 */
async function moveEach(of: readonly Message[], body: object): Promise<string> {
  const refusals: string[] = [];
  for (const some of chunksOf(of, atOnce)) {
    await Promise.all(
      some.map(({ messageId }) =>
        ask(nothing, { method: 'PATCH', path: path`v2/messages/${messageId}`, body }).catch(
          (error: unknown) => refusals.push(sentenceOf(error)),
        ),
      ),
    );
  }
  const [first] = refusals;
  if (refusals.length === of.length && first !== undefined) throw new Error(first);
  const moved = `${countOf(of.length - refusals.length, 'message')} moved`;
  return first === undefined ? `${moved}.` : `${moved}, ${count(refusals.length)} not: ${first}`;
}

interface ActsProps {
  readonly of: readonly Message[];
  readonly isQuiet?: boolean;
  readonly then: () => void;
}

/** Messages of runs, open attempts and quiet periods cannot be moved. */
function Acts({ of, isQuiet = false, then }: ActsProps) {
  const own = of.filter(({ workflowRunId }) => workflowRunId === undefined);
  const movable = own.filter(({ state, debounced }) => state !== 'ACTIVE' && debounced !== true);
  const kind = isQuiet ? 'quiet' : 'plain';
  const labelOf = (verb: string) => (isQuiet ? `${verb} ${of[0]?.messageId ?? ''}` : undefined);
  const those = countOf(movable.length, 'message');
  const others =
    movable.length === of.length
      ? ''
      : ` ${count(of.length - movable.length)} of the selected cannot be moved.`;
  return (
    <>
      {movable.length > 0 && (
        <>
          <ActionForm
            name={isQuiet ? 'Deliver now' : `Deliver ${those} now…`}
            kind={kind}
            label={labelOf('Deliver now')}
            title={`Deliver ${those} now?`}
            yes="Deliver now"
            effect={`The next attempt is made at once.${others}`}
            work={() => moveEach(movable, { delay: '0s' })}
            then={then}
          />
          <ActionForm
            name={isQuiet ? 'Move…' : `Move ${those}…`}
            kind={kind}
            label={labelOf('Move')}
            title={`Move ${those}`}
            yes="Move"
            effect={`The next attempt is made at this time.${others}`}
            fields={{ notBefore: { label: 'Due', type: 'datetime-local', required: true } }}
            isReady={({ notBefore }) => notBefore !== ''}
            work={({ notBefore }) => moveEach(movable, { notBefore: new Date(notBefore).getTime() / 1_000 })}
            then={then}
          />
        </>
      )}
      {own.length > 0 && (
        <ActionForm
          name={isQuiet ? 'Cancel' : `Cancel ${countOf(own.length, 'message')}…`}
          kind={kind}
          label={labelOf('Cancel')}
          title={`Cancel ${countOf(own.length, 'message')}?`}
          yes="Cancel the delivery"
          isDangerous
          effect="No further attempt is made. One that is in flight may still arrive."
          work={async () => {
            let sum = 0;
            const body = { messageIds: own.map(({ messageId }) => messageId) };
            for await (const part of pagesOf(cancelled, { method: 'DELETE', path: 'v2/messages', body }))
              sum += part.cancelled;
            return `${countOf(sum, 'message')} cancelled.`;
          }}
          then={then}
        />
      )}
    </>
  );
}

interface FiresProps {
  readonly place: Place;
  readonly from: number;
  readonly to: number;
}

const mostFires = 5;

/** Shows nothing if no schedule fires in the period. */
function Fires({ place, from, to }: FiresProps) {
  const list = usePages(schedules, { path: 'v2/schedules' }, (page) => page);
  const filters = [...filtersOf(place, fields)];
  const items = list.items
    ?.filter(({ nextScheduleTime: at = Infinity, destination, ...one }) => {
      const values = { ...valuesIn([{ ...one, url: destination }]), queueName: [one.queueName] };
      const isWanted = filters.every(([name, value]) =>
        new Map(Object.entries(values)).get(name)?.includes(value),
      );
      return isWanted && at >= from && at <= to;
    })
    .toSorted((one, other) => (one.nextScheduleTime ?? 0) - (other.nextScheduleTime ?? 0));
  if (items?.length === 0 && list.more === undefined) return null;
  return (
    <Card
      title="Next fires of schedules"
      actions={
        <ButtonLink kind="quiet" href={href(['schedules'], { sort: 'next' })}>
          All schedules
        </ButtonLink>
      }
    >
      <ListTable
        list={{ ...list, items: items?.slice(0, mostFires) }}
        caption="Schedules by their next fire"
        keyOf={({ scheduleId }) => scheduleId}
        columns={[
          { head: 'Due', time: ({ nextScheduleTime }) => nextScheduleTime },
          {
            head: 'Schedule',
            text: ({ scheduleId }) => scheduleId,
            to: ({ scheduleId }) => hrefOfSchedule(scheduleId),
          },
          { head: 'Destination', address: ({ method, destination }) => `${method} ${destination}` },
          { head: 'Label', labels: ({ labels }) => labels },
        ]}
      />
    </Card>
  );
}
