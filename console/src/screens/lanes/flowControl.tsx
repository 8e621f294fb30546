import type { Answer } from '../../../../lambdas/wire/answers.ts';
import { flowControl, flowControls } from '../../../../lambdas/wire/laneAnswers.ts';
import { path } from '../../api/client.ts';
import { oftenMs, useOnceTrue } from '../../api/useAsked.ts';
import { ResourceList } from '../../lists/resourceList.tsx';
import { href, type Place } from '../../place.ts';
import { Act, change, sends, ActionForm } from '../../ui/action.tsx';
import { ResourcePage } from '../../ui/resourcePage.tsx';
import { Card, count, State } from '../../ui/basics.tsx';
import { Meter } from '../../ui/charts.tsx';
import { duration, Time } from '../../ui/time.tsx';
import {
  Circuits,
  FairKeys,
  GlobalParallelism,
  LaneState,
  OverTime,
  Pause,
  useCircuits,
  WaitingCard,
  WaitingMessages,
} from './parts.tsx';

type Key = Answer<typeof flowControl>;

const list = ['flow-control'];

export function FlowControl({ place }: { readonly place: Place }) {
  const [, key] = place.path;
  return key === undefined ? <AllKeys place={place} /> : <OneKey name={key} />;
}

const ofMost = (value: number, most: number): string =>
  most === 0 ? count(value) : `${count(value)} of ${count(most)}`;

const periodOf = ({ ratePeriod }: Key): string => duration(ratePeriod * 1_000);

const States = ({ of }: { readonly of: Key }) => (
  <>
    <LaneState isPaused={of.isPaused} />{' '}
    {(of.isPinnedParallelism || of.isPinnedRate) && <State state="pinned" />}
  </>
);

function AllKeys({ place }: { readonly place: Place }) {
  const down = useCircuits();
  // Hosts are above the keys, so the keys are shown later, to avoid that they jump.
  const isKnown = useOnceTrue(down.items !== undefined || down.error !== undefined);
  return (
    <ResourceList
      title="Flow control"
      place={place}
      shape={flowControls}
      path="v2/flowControl"
      rowsOf={(all) => all}
      isWaiting={!isKnown}
      fields={[{ name: 'search', label: 'Key', placeholder: 'Part of a key', isMain: true }]}
      noMatch="No key contains this text."
      empty={[
        'No flow-control keys yet.',
        <p>
          The first message with <code>Svc-Flow-Control-Key</code> creates its key.
        </p>,
      ]}
      caption="Flow-control keys, by name"
      keyOf={({ flowControlKey }) => flowControlKey}
      columns={[
        {
          head: 'Key',
          text: ({ flowControlKey }) => flowControlKey,
          to: ({ flowControlKey }) => href([...list, flowControlKey]),
        },
        { head: 'State', cell: (one) => <States of={one} /> },
        { head: 'Waiting', count: ({ waitListSize }) => waitListSize },
        {
          head: 'In flight',
          isNumber: true,
          cell: ({ parallelismCount, parallelismMax }) => ofMost(parallelismCount, parallelismMax),
        },
        {
          head: 'Rate',
          isNumber: true,
          cell: (one) =>
            one.rateMax === 0 ? '–' : `${ofMost(one.rateCount, one.rateMax)} in ${periodOf(one)}`,
        },
      ]}
      acts={({ flowControlKey, isPaused }, again) => (
        <Pause of="flowControl" name={flowControlKey} isPaused={isPaused} then={again} isQuiet />
      )}
    >
      <GlobalParallelism />
      <Circuits of={down} />
    </ResourceList>
  );
}

const OneKey = ({ name }: { readonly name: string }) => (
  <ResourcePage
    shape={flowControl}
    path={path`v2/flowControl/${name}`}
    everyMs={oftenMs}
    title={name}
    back={{ href: href(list), name: 'Flow control' }}
    links={<WaitingMessages of={{ flowControlKey: name }} />}
    actions={(of, again) => <KeyActions of={of} then={again} />}
  >
    {(one) => (
      <>
        <Card>
          <p>
            <States of={one} />
          </p>
          <div class="grid">
            <Meter label="Waiting for their turn" value={one.waitListSize} />
            <Meter
              label={`In flight${one.isPinnedParallelism ? ', pinned' : ''}`}
              value={one.parallelismCount}
              most={one.parallelismMax}
              isFullFine
            />
            <div class="meter">
              <span>Oldest published</span>
              <strong>{one.oldestAt === undefined ? 'none' : <Time at={one.oldestAt} />}</strong>
            </div>
            {one.rateMax > 0 && (
              <Meter
                label={`Started within ${periodOf(one)}${one.isPinnedRate ? ', pinned' : ''}`}
                value={one.rateCount}
                most={one.rateMax}
                isFullFine
              />
            )}
          </div>
        </Card>
        <FairKeys of={one.fairKeys} />
        {one.waitListSize + one.parallelismCount > 0 && <WaitingCard name={name} />}
        <OverTime of={{ flowControlKey: name }} />
      </>
    )}
  </ResourcePage>
);

const shownLimit = (value: number): string => (value === 0 ? '' : String(value));

function KeyActions({ of, then }: { readonly of: Key; readonly then: () => void }) {
  const { flowControlKey: key, isPaused, isPinnedParallelism, isPinnedRate, rateMax } = of;
  const unpinned = { parallelism: String(isPinnedParallelism), rate: String(isPinnedRate) };
  return (
    <>
      <Pause of="flowControl" name={key} isPaused={isPaused} then={then} />
      <ActionForm
        name="Pin limits"
        title="Pin limits"
        effect="Messages do not change pinned limits. Leave a field empty to keep its limit."
        yes="Pin"
        then={then}
        fields={{
          parallelism: {
            label: 'Parallelism',
            type: 'number',
            value: shownLimit(of.parallelismMax),
            hint: 'Deliveries in flight at once.',
          },
          rate: { label: 'Rate', type: 'number', value: shownLimit(rateMax), hint: 'Starts in one period.' },
          period: {
            label: 'Period',
            value: shownLimit(of.ratePeriod),
            hint: 'Seconds, or a duration such as “1m”; a week at most.',
          },
        }}
        work={async ({ period, ...limits }) => {
          await change({
            path: path`v2/flowControl/${key}/pin`,
            query: { ...limits, ...(limits.rate !== '' && { period }) },
          });
          return `The limits of “${key}” are pinned.`;
        }}
      />
      {(isPinnedParallelism || isPinnedRate) && (
        <Act
          name="Unpin"
          work={sends(
            { path: path`v2/flowControl/${key}/unpin`, query: unpinned },
            `The limits of “${key}” are those of its next message.`,
          )}
          then={then}
        />
      )}
      {rateMax > 0 && (
        <Act
          name="Reset rate"
          work={sends({ path: path`v2/flowControl/${key}/resetRate` }, `A new period of “${key}” has begun.`)}
          then={then}
        />
      )}
    </>
  );
}
