/** Flow-control keys: their messages are delivered at a limited pace. */
import { useState } from 'preact/hooks';
import { flowControl, flowControls, type Answer } from '../../../../lambdas/wire/answers.ts';
import { useMayWrite } from '../../access.ts';
import { path } from '../../api/client.ts';
import { defaultIntervalMs, useAsked, useOnceTrue, usePages } from '../../api/useAsked.ts';
import { href, type Place } from '../../place.ts';
import { Act, change, Opens, Loaded } from '../../ui/act.tsx';
import { Card, count, Cut, Empty, Page, State } from '../../ui/basics.tsx';
import { TextField } from '../../ui/fields.tsx';
import { Meter } from '../../ui/charts.tsx';
import { Confirm } from '../../ui/dialog.tsx';
import { FilterBar, filtersOf, isFiltered, type FilterField } from '../../ui/filters.tsx';
import { Listed, Table, type Column } from '../../ui/table.tsx';
import { duration } from '../../ui/time.tsx';
import { Circuits, useCircuits } from './circuits.tsx';
import { OverTime } from './overTime.tsx';
import {
  FairKeys,
  GlobalParallelism,
  LaneState,
  Oldest,
  Pause,
  WaitingCard,
  WaitingMessages,
} from './parts.tsx';

type Key = Answer<typeof flowControl>;

const list = ['flow-control'];
const fields: readonly FilterField[] = [
  { name: 'search', label: 'Key', placeholder: 'A part of it', isMain: true },
];

export function FlowControl({ place }: { readonly place: Place }) {
  const [, key] = place.path;
  return key === undefined ? <AllKeys place={place} /> : <OneKey name={key} />;
}

const ofMost = (value: number, most: number): string =>
  most === 0 ? count(value) : `${count(value)} of ${count(most)}`;

const periodOf = ({ ratePeriod }: Key): string => duration(ratePeriod * 1_000);

function States({ of }: { readonly of: Key }) {
  return (
    <>
      <LaneState isPaused={of.isPaused} />{' '}
      {(of.isPinnedParallelism || of.isPinnedRate) && <State state="pinned" />}
    </>
  );
}

function AllKeys({ place }: { readonly place: Place }) {
  const mayWrite = useMayWrite();
  const request = { path: 'v2/flowControl', query: filtersOf(place, fields) };
  const page = usePages(flowControls, request, (all) => all);
  const down = useCircuits();
  // The hosts are above the keys. The keys are hidden until the hosts are loaded, so that they don't jump.
  const isKnown = useOnceTrue(down.items !== undefined || down.error !== undefined);
  const actions: Column<Key> = {
    head: 'Actions',
    isNumber: true,
    cell: ({ flowControlKey, isPaused }) => (
      <Pause of="flowControl" name={flowControlKey} isPaused={isPaused} then={page.again} isQuiet />
    ),
  };
  return (
    <Page title="Flow control">
      <GlobalParallelism />
      <Circuits of={down} />
      <FilterBar place={place} fields={fields} />
      <Listed
        list={isKnown ? page : { ...page, items: undefined, more: undefined }}
        empty={
          isFiltered(place, fields) ? (
            <Empty title="No key contains this text." />
          ) : (
            <Empty title="No flow-control keys yet.">
              <p>
                The first message with <code>Svc-Flow-Control-Key</code> makes its key.
              </p>
            </Empty>
          )
        }
      >
        {(all) => (
          <Table
            caption="Flow-control keys, by name"
            rows={all}
            keyOf={({ flowControlKey }) => flowControlKey}
            columns={[
              {
                head: 'Key',
                isWide: true,
                cell: ({ flowControlKey }) => (
                  <a href={href([...list, flowControlKey])}>
                    <Cut text={flowControlKey} />
                  </a>
                ),
              },
              { head: 'State', cell: (one) => <States of={one} /> },
              { head: 'Waiting', isNumber: true, cell: ({ waitListSize }) => count(waitListSize) },
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
              ...(mayWrite ? [actions] : []),
            ]}
          />
        )}
      </Listed>
    </Page>
  );
}

function OneKey({ name }: { readonly name: string }) {
  const mayWrite = useMayWrite();
  const asked = useAsked(flowControl, { path: path`v2/flowControl/${name}` }, defaultIntervalMs);
  const { answer, again: then } = asked;
  return (
    <Page
      title={name}
      back={{ href: href(list), name: 'Flow control' }}
      actions={
        answer && (
          <>
            <WaitingMessages filter="flowControlKey" name={name} />
            {mayWrite && <KeyActions of={answer} then={then} />}
          </>
        )
      }
    >
      <Loaded of={asked}>
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
                  <strong>
                    <Oldest at={one.oldestAt} />
                  </strong>
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
      </Loaded>
    </Page>
  );
}

interface ActionsProps {
  readonly of: Key;
  readonly then: () => void;
}

function KeyActions({ of, then }: ActionsProps) {
  const { flowControlKey: key, isPaused, isPinnedParallelism, isPinnedRate, rateMax } = of;
  return (
    <>
      <Pause of="flowControl" name={key} isPaused={isPaused} then={then} />
      <Opens name="Pin limits" then={then}>
        {(close) => <Pin of={of} onClose={close} />}
      </Opens>
      {(isPinnedParallelism || isPinnedRate) && (
        <Act
          request={{
            path: path`v2/flowControl/${key}/unpin`,
            query: { parallelism: String(isPinnedParallelism), rate: String(isPinnedRate) },
          }}
          said={`The limits of “${key}” are those of its next message.`}
          then={then}
        >
          Unpin
        </Act>
      )}
      {rateMax > 0 && (
        <Act
          request={{ path: path`v2/flowControl/${key}/resetRate` }}
          said={`A new period of “${key}” has begun.`}
          then={then}
        >
          Reset rate
        </Act>
      )}
    </>
  );
}

function Pin({ of, onClose }: { readonly of: Key; readonly onClose: (isDone: boolean) => void }) {
  const shown = (value: number): string => (value === 0 ? '' : String(value));
  const [parallelism, setParallelism] = useState(shown(of.parallelismMax));
  const [rate, setRate] = useState(shown(of.rateMax));
  const [period, setPeriod] = useState(shown(of.ratePeriod));
  const work = async (): Promise<string> => {
    await change({
      path: path`v2/flowControl/${of.flowControlKey}/pin`,
      query: { parallelism, rate, ...(rate !== '' && { period }) },
    });
    return `The limits of “${of.flowControlKey}” are pinned.`;
  };
  return (
    <Confirm title="Pin limits" yes="Pin" work={work} onClose={onClose}>
      <p class="hint">Messages do not change pinned limits. Leave a field empty to keep its limit.</p>
      <TextField
        label="Parallelism"
        about="parallelism"
        type="number"
        value={parallelism}
        onInput={setParallelism}
        hint="Deliveries in flight at once."
      />
      <TextField
        label="Rate"
        about="rate"
        type="number"
        value={rate}
        onInput={setRate}
        hint="Starts in one period."
      />
      <TextField
        label="Period"
        about="period"
        value={period}
        onInput={setPeriod}
        hint="Seconds, or a duration such as “1m”; a week at most."
      />
    </Confirm>
  );
}
