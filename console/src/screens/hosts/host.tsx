/** A host: its answers over time, since when it fails, what waits for it, and its dead letters. */
import { counted } from '../../../../lambdas/wire/answers.ts';
import { circuits } from '../../../../lambdas/wire/laneAnswers.ts';
import { deadLetterCount, hostTimes } from '../../../../lambdas/wire/statsAnswers.ts';
import { useMayWrite } from '../../access.ts';
import { countedText, useAsked } from '../../api/useAsked.ts';
import { href, type Place } from '../../place.ts';
import { Act } from '../../ui/action.tsx';
import { Loaded, LoadedCard } from '../../ui/resourcePage.tsx';
import { ButtonLink, Card, count, countOf, DetailList, Page, State, percentOf } from '../../ui/basics.tsx';
import { Attempts, Latency } from '../../ui/charts.tsx';
import { FilterChoices } from '../../ui/filters.tsx';
import { clockTime, exactTime, exactly, inMs } from '../../ui/time.tsx';
import { deadLetters, FailedActs } from '../deadLetters/failed.tsx';
import { closes } from '../lanes/parts.tsx';
import { Deliveries } from './holds.tsx';

const hourMs = 3_600_000;
/** The selectable periods. The first is the default. */
const periods = [
  ['', '24 hours', 24 * hourMs],
  ['hour', '1 hour', hourMs],
  ['week', '7 days', 7 * 24 * hourMs],
] as const;

/** Rare, because an answer reads many records. Milliseconds. */
const everyMs = 30_000;
/** The beginning of the period is rounded to a minute, so that the request stays the same for a while. */
const minuteMs = 60_000;

export function Host({ place }: { readonly place: Place }) {
  const [, , host = ''] = place.path;
  const chosen = place.query.get('over') ?? '';
  const [over, period, lengthMs] = periods.find(([value]) => value === chosen) ?? periods[0];
  const since = Math.floor(Date.now() / minuteMs) * minuteMs - lengthMs;
  const asked = useAsked(hostTimes, { path: 'v2/stats/hosts', query: { host, since } }, everyMs);
  return (
    <Page
      title={host}
      back={{ href: href(['overview']), name: 'Overview' }}
      actions={
        <ButtonLink kind="quiet" href={href(['messages'], { host })}>
          Messages
        </ButtonLink>
      }
    >
      <Deliveries of={{ kind: 'host', name: host }} text="Hold deliveries to this host" />
      <LoadedCard
        title={`Attempts in the last ${period}`}
        actions={<FilterChoices filter="over" of={periods} chosen={over} />}
        of={asked}
      >
        {({ attempts, hosts: [times], steps = [], lookedFrom }) => (
          <>
            {times === undefined ? (
              <p class="hint">No attempt was made in this period.</p>
            ) : (
              <Figures of={times} />
            )}
            {(attempts > 0 || lookedFrom !== undefined) && (
              <>
                <Attempts title="Succeeded and failed" steps={steps} lookedFrom={lookedFrom} />
                <Latency steps={steps} />
              </>
            )}
          </>
        )}
      </LoadedCard>
      <Waiting host={host} />
      <DeadLettersOf host={host} since={beforeThat(asked.answer?.hosts[0]?.failingSince)} />
    </Page>
  );
}

/** A dead letter's time is when its last attempt was due, slightly before it was sent. */
const beforeThat = (failingSince: number | undefined): number | undefined =>
  failingSince && failingSince - minuteMs;

type Times = NonNullable<ReturnType<typeof useAsked<typeof hostTimes>>['answer']>['hosts'][number];

function Figures({ of }: { readonly of: Times }) {
  const { failingSince, lastSuccess, failuresInRow, failures, attempts, lastStatus } = of;
  return (
    <>
      {failingSince !== undefined && (
        <p class="wrong">
          Failing since {clockTime(failingSince)}: the last {countOf(failuresInRow, 'attempt')} failed,{' '}
          {lastStatus === 0 ? 'the most recent without an answer' : `the most recent with ${lastStatus}`}.{' '}
          {lastSuccess === undefined
            ? 'No attempt succeeded in this period.'
            : `The last success was at ${clockTime(lastSuccess)}.`}
        </p>
      )}
      <DetailList
        of={[
          ['Attempts', count(attempts)],
          ['Failures', failures === 0 ? '0' : `${count(failures)} (${percentOf(failures, attempts)})`],
          ['p50', inMs(of.p50)],
          ['p95', inMs(of.p95)],
          ['First failure', exactly(of.firstFailure)],
          ['Last failure', exactly(of.lastFailure)],
          ['Last success', exactly(lastSuccess)],
        ]}
      />
    </>
  );
}

/** In milliseconds. The circuit of a failing host changes without the user. */
const circuitsEveryMs = 10_000;

function Waiting({ host }: { readonly host: string }) {
  const asked = useAsked(circuits, { path: 'v2/circuits' }, circuitsEveryMs);
  const mayWrite = useMayWrite();
  const circuit = asked.answer?.find((one) => one.host === host);
  const open = useAsked(counted, { path: 'v2/messages/count', query: { host } }, everyMs);
  return (
    <Card
      title="Waiting messages"
      actions={
        <>
          <ButtonLink kind="quiet" href={href(['upcoming'], { host })}>
            Upcoming
          </ButtonLink>
          <ButtonLink kind="quiet" href={href(['dead-letters'], { list: 'failing', host })}>
            Being retried
          </ButtonLink>
          <ButtonLink kind="quiet" href={href(['messages'], { host, state: 'CREATED' })}>
            Waiting
          </ButtonLink>
          {circuit && mayWrite && <Act name="Close the circuit" work={closes(host)} then={asked.again} />}
        </>
      }
    >
      <Loaded of={open}>
        {({ count: number }) => (
          <p>
            {countedText(open)} {number === 1 ? 'message has' : 'messages have'} not ended:{' '}
            {number === 1 ? 'it waits, is' : 'they wait, are'} held back or will be retried.
          </p>
        )}
      </Loaded>
      {circuit === undefined ? (
        <p class="hint">No circuit is open for this host.</p>
      ) : (
        <DetailList
          of={[
            ['Circuit', <State state={circuit.state} />],
            ['Held back', countOf(circuit.waiting, 'message')],
            ['Since', exactly(circuit.openedAt)],
            ['Next probe', exactly(circuit.nextProbeAt)],
          ]}
        />
      )}
    </Card>
  );
}

/**
 * The host's dead letters; if it is failing, those since its first failure, which can be retried together.
 */
function DeadLettersOf({ host, since }: { readonly host: string; readonly since: number | undefined }) {
  const query = new URLSearchParams({ host, ...(since !== undefined && { fromDate: String(since) }) });
  const asked = useAsked(deadLetterCount, { path: 'v2/dlq/count', query }, everyMs);
  const mayWrite = useMayWrite();
  const { count: number } = asked.answer ?? { count: 0 };
  const some = countedText(asked);
  const words = since === undefined ? `host ${host}` : `host ${host}, since ${exactTime(since)}`;
  return (
    <LoadedCard
      title="Dead letters"
      actions={
        <>
          <ButtonLink kind="quiet" href={href(['dead-letters'], query)}>
            Show them
          </ButtonLink>
          {mayWrite && (
            <FailedActs
              of={deadLetters}
              which={`all ${some}${since === undefined ? '' : ` since ${clockTime(since)}`}`}
              isHidden={number === 0}
              query={query}
              words={words}
              then={asked.again}
            />
          )}
        </>
      }
      of={asked}
    >
      {({ errors }) =>
        errors.length === 0 ? (
          <p class="hint">No dead letters were found{since !== undefined && ` since ${clockTime(since)}`}.</p>
        ) : (
          <ul>
            {errors.slice(0, mostReasons).map(({ error, count: many }) => (
              <li key={error}>
                <a href={href(['dead-letters'], new URLSearchParams([...query, ['error', error]]))}>
                  {count(many)} × {error}
                </a>
              </li>
            ))}
          </ul>
        )
      }
    </LoadedCard>
  );
}

/** The most reasons shown. The list of dead letters shows all. */
const mostReasons = 5;
