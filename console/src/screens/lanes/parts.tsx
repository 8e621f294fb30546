/** The parts that queues and flow-control keys share: both are lanes. */
import { type Answer, type circuit } from '../../../../lambdas/wire/answers.ts';
import { circuits, globalParallelism, type queue } from '../../../../lambdas/wire/laneAnswers.ts';
import { laneTimes } from '../../../../lambdas/wire/statsAnswers.ts';
import { path } from '../../api/client.ts';
import { useLive } from '../../api/live.ts';
import { oftenMs, useAsked, usePages, type Paged } from '../../api/useAsked.ts';
import { ListTable } from '../../lists/resourceList.tsx';
import { href, type Query } from '../../place.ts';
import { Act, sends } from '../../ui/action.tsx';
import { ButtonLink, Card, count, Failure, State } from '../../ui/basics.tsx';
import { Attempts, Bars, Meter } from '../../ui/charts.tsx';
import { LoadedCard } from '../../ui/resourcePage.tsx';
import { Table } from '../../ui/table.tsx';
import { timeToMinute } from '../../ui/time.tsx';
import { MessageCard } from '../messages/messageTable.tsx';

export const LaneState = ({ isPaused }: { readonly isPaused: boolean }) => (
  <State state={isPaused ? 'paused' : 'active'} />
);

/** The account's deliveries in flight. */
export function GlobalParallelism() {
  // During an outage, the top of the page already says so.
  const { isLost } = useLive();
  const { answer, error } = useAsked(globalParallelism, { path: 'v2/globalParallelism' }, oftenMs);
  return (
    <Card>
      {error !== undefined && !isLost && <Failure error={error} />}
      <Meter
        label="Deliveries of the account in flight"
        value={answer?.parallelismCount}
        most={answer?.parallelismMax}
        isFullFine
      />
    </Card>
  );
}

interface PauseProps {
  readonly of: 'queues' | 'flowControl' | 'schedules';
  readonly name: string;
  readonly isPaused: boolean;
  readonly then: () => void;
  readonly isQuiet?: boolean;
}

export function Pause({ of, name, isPaused, then, isQuiet = false }: PauseProps) {
  const verb = isPaused ? 'Resume' : 'Pause';
  return (
    <Act
      name={verb}
      kind={isQuiet ? 'quiet' : 'plain'}
      label={`${verb} ${name}`}
      work={sends(
        { path: path`v2/${of}/${name}/${verb.toLowerCase()}` },
        `“${name}” is ${isPaused ? 'resumed' : 'paused'}.`,
      )}
      then={then}
    />
  );
}

const waiting = 'CREATED,RETRY';

/** @param of the filter for messages of this lane */
export const WaitingMessages = ({ of }: { readonly of: Query }) => (
  <ButtonLink href={href(['messages'], { state: waiting, ...of })}>Show its messages</ButtonLink>
);

export function FairKeys({ of }: { readonly of: Answer<typeof queue>['fairKeys'] }) {
  if (of === undefined || of.length === 0) return null;
  return (
    <Card title="Fair keys that take turns">
      <Table
        caption="Fair keys, those with the most waiting messages first"
        rows={of}
        keyOf={({ fairKey }) => fairKey}
        columns={[
          { head: 'Fair key', text: ({ fairKey }) => fairKey },
          { head: 'Waiting', count: ({ waiting }) => waiting },
        ]}
      />
    </Card>
  );
}

const mostShown = 10;

export const WaitingCard = ({ name }: { readonly name: string }) => (
  <MessageCard
    title="The newest waiting messages"
    caption="Waiting messages, the newest first"
    query={{ state: waiting, flowControlKey: name, count: mostShown }}
    most={mostShown}
    empty={(isAll) => (isAll ? 'No message waits here.' : 'Looking…')}
  />
);

type Circuit = Answer<typeof circuit>;

export const useCircuits = (): Paged<Circuit> => usePages(circuits, { path: 'v2/circuits' }, (all) => all);

export const closes = (host: string) =>
  sends({ path: path`v2/circuits/${host}/close` }, `The circuit of “${host}” is closed.`);

/** Hosts whose circuits are open. Deliveries to them wait. */
export function Circuits({ of: page }: { readonly of: Paged<Circuit> }) {
  if (page.error === undefined && (page.items ?? []).length === 0) return null;
  return (
    <Card title="Hosts that are down">
      <ListTable
        list={page}
        caption="Open circuits, by host"
        keyOf={({ host }) => host}
        columns={[
          { head: 'Host', text: ({ host }) => host },
          { head: 'Circuit', state: ({ state }) => state },
          { head: 'Waiting', count: ({ waiting }) => waiting },
          { head: 'Failures', isExtra: true, count: ({ failures }) => failures },
          { head: 'Last answer', text: ({ lastStatus, lastError }) => lastError ?? String(lastStatus) },
          { head: 'Since', time: ({ openedAt }) => openedAt },
          { head: 'Next probe', time: ({ nextProbeAt }) => nextProbeAt },
        ]}
        acts={({ host }, again) => (
          <Act
            name="Close"
            kind="quiet"
            label={`Close the circuit of ${host}`}
            work={closes(host)}
            then={again}
          />
        )}
      />
    </Card>
  );
}

/** Rare, because an answer reads many records. Milliseconds. */
const everyMs = 60_000;

export function OverTime({ of }: { readonly of: { queueName: string } | { flowControlKey: string } }) {
  const asked = useAsked(laneTimes, { path: 'v2/stats/lanes', query: of }, everyMs);
  return (
    <LoadedCard title="The last 24 hours" of={asked}>
      {({ hours, lookedFrom }) => (
        <>
          <Bars
            title="Peak of waiting messages"
            names={hours.map(({ from }) => timeToMinute(from))}
            summary={count(Math.max(...hours.map(({ depth }) => depth)))}
            series={[{ name: 'waiting', tone: 'warn', values: hours.map(({ depth }) => depth) }]}
          />
          <Attempts title="Attempts" per="per hour" steps={hours} lookedFrom={lookedFrom} />
        </>
      )}
    </LoadedCard>
  );
}
