/**
 * The account at a glance: problems, today's usage and its limits, traffic, how hosts answer, and the most
 * frequent failures.
 */
import type { ComponentChildren } from 'preact';
import { useContext } from 'preact/hooks';
import { counted, type Answer } from '../../../../lambdas/wire/answers.ts';
import { countedMessages, deadLetterCount, hostTimes } from '../../../../lambdas/wire/statsAnswers.ts';
import { useMayWrite } from '../../access.ts';
import { lazy } from '../../frame/lazy.tsx';
import { baseUrl } from '../../api/client.ts';
import { StatsOf, useAttention, type Stats } from '../../api/attention.ts';
import { countedText, isSettled, useAsked, useOnceTrue } from '../../api/useAsked.ts';
import { href, type Place } from '../../place.ts';
import { Loaded, LoadedCard } from '../../ui/resourcePage.tsx';
import {
  ButtonLink,
  bytes,
  Card,
  count,
  countOf,
  Empty,
  Loading,
  Page,
  percentOf,
  Visible,
} from '../../ui/basics.tsx';
import { Body } from '../../ui/body.tsx';
import { Bars, Latency, Meter } from '../../ui/charts.tsx';
import { FilterChoices } from '../../ui/filters.tsx';
import { Table } from '../../ui/table.tsx';
import { inMs, Time, timeToMinute } from '../../ui/time.tsx';
import { curlOf } from '../publish/curl.ts';
import { statusOf } from '../messages/messageTable.tsx';
import { emptyDraft } from '../publish/draft.ts';
import { hrefOfHost } from '../links.tsx';
import { HeldNow, HoldDeliveries, useHolds } from '../hosts/holds.tsx';
import { usedLimits, Verdict } from './verdict.tsx';
import { waitingByDay, waitingByHour, type Flow } from './waiting.ts';

/** `?over=days` shows 30 days instead of 48 hours, and `?over=hour` shows one hour. */
export function Overview({ place }: { readonly place: Place }) {
  return place.path[1] === 'hosts' ? <Host place={place} /> : <Account place={place} />;
}

const Host = lazy('Host', async () => (await import('../../frame/later.ts')).Host);

function Account({ place }: { readonly place: Place }) {
  const stats = useContext(StatsOf);
  // The rest of the screen waits for the holds and the verdict, because their height varies.
  const held = useHolds();
  const mayWrite = useMayWrite();
  const isJudged = useOnceTrue([useAttention(), held].every(isSettled));
  const screen = (of: Stats) => (
    <>
      <HeldNow of={held.answer ?? []} then={held.again} />
      <Verdict usage={of} isHeld={held.answer?.length !== 0} />
      <Today of={of} />
      <WaitingNow />
      <Limits of={of} />
      <Traffic of={of} place={place} />
      <Hosts />
      <Failing hasNone={of.deadLetters === 0} />
    </>
  );
  return (
    <Page title="Overview" actions={mayWrite && <HoldDeliveries text="Hold deliveries" then={held.again} />}>
      <Loaded of={stats}>
        {(of) => (isUntouched(of) ? <Beginning /> : isJudged ? screen(of) : <Loading />)}
      </Loaded>
    </Page>
  );
}

const isUntouched = ({ days, deadLetters }: Stats): boolean =>
  deadLetters === 0 && days.every(({ accepted, delivered }) => accepted === 0 && delivered === 0);

function Beginning() {
  const mayWrite = useMayWrite();
  const first = { ...emptyDraft, destination: 'https://echo.invalid/orders', body: '{"hello":"world"}' };
  return (
    <>
      <Empty title="Nothing has been sent yet.">
        {mayWrite ? (
          <ButtonLink kind="main" href={href(['publish'], { destination: first.destination })}>
            Publish a first message
          </ButtonLink>
        ) : (
          'This page shows sent messages and their outcomes.'
        )}
      </Empty>
      {mayWrite && (
        <Card title="Or from a shell">
          <Body text={curlOf(first, baseUrl)} label="curl" />
          <p class="hint">The service itself answers for this host, with the request that it would send.</p>
        </Card>
      )}
    </>
  );
}

const Figure = ({ name, children }: { readonly name: string; readonly children: ComponentChildren }) => (
  <div class="figure">
    <span class="hint">{name}</span>
    <strong>{children}</strong>
  </div>
);

/** A count reads all runs, so it is requested less often if it is slow. */
const runsEveryMs = 30_000;

function RunsUnderWay() {
  const asked = useAsked(counted, { path: 'v2/workflows/runs/count' }, runsEveryMs);
  return (
    <Figure name="Workflow runs now">
      <a href={href(['runs'], { state: 'RUN_STARTED' })}>{countedText(asked)}</a>
    </Figure>
  );
}

const Today = ({ of: { today, countedUntil } }: { readonly of: Stats }) => (
  <Card title="Today (UTC)">
    <div class="figures">
      <Figure name="Accepted">{count(today.accepted)}</Figure>
      <Figure name="Delivered">{count(today.delivered)}</Figure>
      <Figure name="Failed">{count(today.failed)}</Figure>
      <Figure name="Cancelled">{count(today.cancelled)}</Figure>
      <Figure name="Received">{bytes(today.bytes)}</Figure>
      <RunsUnderWay />
    </div>
    <p class="hint">
      Callbacks are included.
      {countedUntil !== undefined && ' Some messages that have ended are not counted yet.'}
    </p>
  </Card>
);

/** Milliseconds. */
const waitingEveryMs = 10_000;

function WaitingNow() {
  const asked = useAsked(
    countedMessages,
    { path: 'v2/messages/count', query: { by: 'state' } },
    waitingEveryMs,
  );
  return (
    <LoadedCard title="Waiting now" of={asked}>
      {({ states, awaited = [] }) => (
        <>
          <div class="figures">
            <Figure name="Messages">{countedText(asked)}</Figure>
            {states && (
              <>
                <Figure name="Delayed">{count(states.delayed)}</Figure>
                <Figure name="Waiting">{count(states.waiting)}</Figure>
                <Figure name="Retrying">
                  <a href={href(['dead-letters'], { list: 'failing' })}>{count(states.retrying)}</a>
                </Figure>
                <Figure name="For an answer">
                  <a href={href(['messages'], { state: 'ACTIVE' })}>{count(states.open)}</a>
                </Figure>
              </>
            )}
          </div>
          {awaited.length > 0 && (
            <ul>
              {awaited.map(({ messageId, url, labels = [], since }) => (
                <li key={messageId}>
                  <a href={href(['messages', messageId])}>
                    <Visible text={[...labels, url].join(' · ')} />
                  </a>{' '}
                  <span class="hint">
                    waiting for an answer since <Time at={since} />
                  </span>
                </li>
              ))}
            </ul>
          )}
        </>
      )}
    </LoadedCard>
  );
}

const Limits = ({ of }: { readonly of: Stats }) => (
  <Card title="Limits">
    <div class="fields limits">
      {usedLimits(of).map(({ address: _address, ...limit }) => (
        <Meter key={limit.label} {...limit} />
      ))}
    </div>
  </Card>
);

/** The periods of the charts, by query value, each with the length of its bars. */
const spans = [
  ['hour', '1 hour', 'in 5 min'],
  ['', '48 hours', 'in 1 h'],
  ['days', '30 days', 'in 1 d'],
] as const;

interface Shown {
  readonly names: readonly string[];
  readonly ended: readonly Pick<Flow, 'delivered' | 'failed'>[];
  /** Undefined if the bars are too short for this count. */
  readonly waiting?: readonly number[];
}

function shownOver(over: string, of: Stats): Shown {
  const { days, hours, lastHour } = of;
  if (over === 'hour') return { names: lastHour.map(({ from }) => timeToMinute(from)), ended: lastHour };
  return over === 'days'
    ? { names: days.map(({ day }) => day), ended: days, waiting: waitingByDay(of) }
    : { names: hours.map(({ hour }) => timeToMinute(hour)), ended: hours, waiting: waitingByHour(of) };
}

function Traffic({ of, place }: { readonly of: Stats; readonly place: Place }) {
  const chosen = place.query.get('over') ?? '';
  const [over, , per] = spans.find(([value]) => value === chosen) ?? spans[1];
  const { names, ended, ...shown } = shownOver(over, of);
  const waiting = of.countedUntil === undefined ? shown.waiting : undefined;
  return (
    <Card title="Traffic" actions={<FilterChoices filter="over" of={spans} chosen={over} />}>
      <Bars
        title="Delivered and failed"
        names={names}
        per={per}
        series={[
          { name: 'delivered', tone: 'good', values: ended.map(({ delivered }) => delivered) },
          { name: 'failed', tone: 'bad', values: ended.map(({ failed }) => failed) },
        ]}
      />
      {waiting && (
        <Bars
          title="Waiting"
          names={names}
          per="at the end"
          series={[{ name: 'waiting', tone: 'busy', values: waiting }]}
        />
      )}
      <p class="hint">
        {waiting && 'Waiting messages are accepted and have not ended; their number is approximate (±1 %). '}
        {of.countedUntil !== undefined && (
          <>
            Messages that ended after <Time at={of.countedUntil} isExact /> are still being counted.
          </>
        )}
      </p>
    </Card>
  );
}

/** Rare, because an answer reads a thousand records. Milliseconds. */
const hostsEveryMs = 30_000;
const mostHosts = 10;

type HostTime = Answer<typeof hostTimes>['hosts'][number];

function Hosts() {
  const asked = useAsked(hostTimes, { path: 'v2/stats/hosts' }, hostsEveryMs);
  return (
    <LoadedCard title="Hosts" of={asked}>
      {({ attempts, from, hosts, steps = [] }) =>
        from === undefined ? (
          <p class="hint">No attempt was made recently.</p>
        ) : (
          <>
            <Latency steps={steps} />
            <Table
              caption="Attempts, failures and answer times by host"
              rows={hosts.slice(0, mostHosts)}
              keyOf={({ host }) => host}
              columns={[
                { head: 'Host', text: ({ host }) => host, to: ({ host }) => hrefOfHost(host) },
                { head: 'Attempts', count: (one) => one.attempts },
                {
                  head: 'Failures',
                  isNumber: true,
                  cell: ({ failures, attempts: all }) =>
                    failures === 0 ? '0' : `${count(failures)} (${percentOf(failures, all)})`,
                },
                { head: 'Failing since', isExtra: true, time: ({ failingSince }) => failingSince },
                ...(hosts.some(({ heldSince }) => heldSince !== undefined)
                  ? [{ head: 'Held since', time: ({ heldSince }: HostTime) => heldSince }]
                  : []),
                { head: 'p50', isNumber: true, cell: ({ p50 }) => inMs(p50) },
                { head: 'p95', isNumber: true, isExtra: true, cell: ({ p95 }) => inMs(p95) },
                { head: 'p99', isNumber: true, cell: ({ p99 }) => inMs(p99) },
              ]}
            />
            <p class="hint">
              The last {countOf(attempts, 'attempt')}, since <Time at={from} />, retries and callbacks
              included. The page of a host has those of a day.
              {hosts.length > mostHosts && ` The ${mostHosts} busiest of ${count(hosts.length)} hosts.`}
            </p>
          </>
        )
      }
    </LoadedCard>
  );
}

function Failing({ hasNone }: { readonly hasNone: boolean }) {
  const groups = useAsked(deadLetterCount, hasNone ? undefined : { path: 'v2/dlq/count' });
  return (
    <Card
      title="Most frequent failures"
      actions={
        hasNone ? undefined : (
          <ButtonLink kind="quiet" href={href(['dead-letters'])}>
            All dead letters
          </ButtonLink>
        )
      }
    >
      {hasNone ? (
        <p class="hint">There are no dead letters.</p>
      ) : (
        <Loaded of={groups}>
          {({ groups }) =>
            groups.length === 0 ? (
              <p class="hint">No dead messages were found, only failed workflow runs.</p>
            ) : (
              <Table
                caption="Dead letters by host and status, the most frequent first"
                rows={groups.slice(0, mostGroups)}
                keyOf={({ host, responseStatus }) => `${host} ${responseStatus}`}
                columns={[
                  {
                    head: 'Host',
                    text: ({ host }) => host,
                    to: ({ host, responseStatus }) => href(['dead-letters'], { host, responseStatus }),
                  },
                  { head: 'Status', isNumber: true, cell: statusOf },
                  { head: 'Dead letters', count: (group) => group.count },
                  { head: 'Last failed', time: ({ lastFailedAt }) => lastFailedAt },
                ]}
              />
            )
          }
        </Loaded>
      )}
    </Card>
  );
}

const mostGroups = 10;
