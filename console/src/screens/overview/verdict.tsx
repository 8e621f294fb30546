import type { ComponentChildren } from 'preact';
import { useAttention, type Attention, type AttentionPart, type Stats } from '../../api/attention.ts';
import { href } from '../../place.ts';
import { classes, count, countOf, dollars, Failure, Visible } from '../../ui/basics.tsx';
import { clockTime, Time } from '../../ui/time.tsx';
import { hrefOfHost, hrefOfRun, hrefOfSchedule, sayHanging } from '../links.tsx';

interface UsedLimit {
  readonly label: string;
  readonly value: number;
  /** 0 if there is no limit. */
  readonly most: number;
  readonly note: string;
  readonly show?: (value: number) => string;
  readonly address: string;
  /** Whether it is no problem to reach the limit, because the rest waits. */
  readonly isFullFine?: boolean;
}

export const usedLimits = ({ today, month, limits, inFlight, deadLetters }: Stats): readonly UsedLimit[] => [
  {
    label: 'Messages today, soft limit',
    value: today.requests,
    most: limits.max_requests_per_day,
    note: 'Callbacks are not counted. Above this, answers have a warning.',
    address: href(['messages']),
  },
  {
    label: 'Messages today, hard limit',
    value: today.requests,
    most: limits.max_requests_per_day_hard,
    note: 'Callbacks are not counted. Above this, messages are refused.',
    address: href(['messages']),
  },
  {
    label: 'Dead letters and failed runs',
    value: deadLetters,
    most: limits.max_dlq_size,
    note: 'New ones replace the oldest.',
    address: href(['dead-letters']),
  },
  {
    label: 'Cost this month, budget',
    value: month.cost,
    most: month.budget,
    note: month.budget === 0 ? 'There is no budget.' : 'Above this, messages are refused.',
    show: dollars,
    address: href(['messages']),
  },
  {
    label: 'Deliveries in flight',
    value: inFlight,
    most: limits.max_global_parallelism,
    note: 'Further deliveries wait.',
    address: href(['flow-control']),
    isFullFine: true,
  },
];

const near = 0.8;

const nearLimits = (usage: Stats): readonly Part[] =>
  usedLimits(usage).flatMap(({ label, value, most, show = count, address, isFullFine = false }) =>
    isFullFine || most === 0 || value < near * most
      ? []
      : [{ text: `${label}: ${show(value)} of ${show(most)}`, address }],
  );

interface Part {
  readonly address: string;
  readonly text: string;
  /** Since when. */
  readonly since?: number | undefined;
}

const holds = (waiting: number): string =>
  waiting === 0 ? 'holds nothing' : `holds ${countOf(waiting, 'message')}`;

/** How many problems of a kind are shown. The others are only counted. */
const mostShown = 5;

/** @param all the address of the whole list */
function some<T>(found: readonly T[] = [], all: string, partOf: (one: T) => Part): Part[] {
  const shown = found.slice(0, mostShown).map(partOf);
  const rest = found.length - shown.length;
  return rest === 0 ? shown : [...shown, { text: `and ${count(rest)} more`, address: all }];
}

const withMost = <T extends { readonly waiting: number }>(all: readonly T[] = []): readonly T[] =>
  all.toSorted((one, other) => other.waiting - one.waiting);

function partsOf(of: Attention, usage: Stats): readonly Part[] {
  const { since: fromDate, deadLetters = usage.deadLetters, failedRuns = 0 } = of;
  const lanes = href(['flow-control']);
  const atLeast = (part: AttentionPart): string => (of.cut.includes(part) ? 'At least ' : '');
  const ofKept = of.cut.includes('deadLetters') ? `, of ${count(usage.deadLetters)} that are kept` : '';
  return [
    ...some(withMost(of.hostsDown), lanes, ({ host, waiting, openedAt }) => ({
      address: lanes,
      text: `${host} is down and ${holds(waiting)}`,
      since: openedAt,
    })),
    ...some(of.failingHosts, href(['overview']), (one) => ({
      address: hrefOfHost(one.host),
      text: `${one.host} has been failing since ${clockTime(one.failingSince)}: ${count(one.failures)} of ${countOf(one.attempts, 'attempt')} failed, ${one.lastSuccess === undefined ? 'with no success before' : `last success ${clockTime(one.lastSuccess)}`}`,
      since: one.failingSince,
    })),
    ...some(of.hangingRuns, href(['runs'], { state: 'RUN_STARTED' }), (run) => ({
      address: hrefOfRun(run.workflowRunId, run.workflowCreatedAt),
      text: `A run of ${run.workflowUrl} hangs. ${sayHanging(run)}`,
      since: run.since,
    })),
    ...some(withMost(of.pausedQueues), href(['queues']), ({ name, waiting }) => ({
      address: href(['queues', name]),
      text: `The queue ${name} is paused and ${holds(waiting)}`,
    })),
    ...some(withMost(of.pausedKeys), lanes, ({ flowControlKey: key, waiting }) => ({
      address: href(['flow-control', key]),
      text: `The flow-control key ${key} is paused and ${holds(waiting)}`,
    })),
    ...some(of.failingSchedules, href(['schedules']), ({ scheduleId, firedAt, error }) => ({
      address: hrefOfSchedule(scheduleId),
      text: `The schedule ${scheduleId} failed with its last fire${error === undefined ? '' : `: ${error}`}`,
      since: firedAt,
    })),
    deadLetters > 0 && {
      address: href(['dead-letters'], { fromDate }),
      text:
        of.deadLetters === undefined
          ? `${countOf(deadLetters, 'dead letter is', 'dead letters are')} kept; it is unknown how many are new`
          : `${atLeast('deadLetters')}${countOf(deadLetters, 'new dead letter')} within a day${ofKept}`,
    },
    failedRuns > 0 && {
      address: href(['runs'], { list: 'failed', fromDate }),
      text: `${atLeast('failedRuns')}${countOf(failedRuns, 'failed workflow run')} within a day`,
    },
    ...nearLimits(usage),
  ].filter((part) => part !== false);
}

/** Shown once it is known what needs attention, or why it is not. */
export function Verdict({ usage, isHeld }: { readonly usage: Stats; readonly isHeld: boolean }) {
  const { answer, error, again } = useAttention();
  if (answer === undefined) {
    return (
      <Frame tone="idle" title="It is unknown whether all is well.">
        {error !== undefined && <Failure error={error} again={again} />}
      </Frame>
    );
  }
  const parts = partsOf(answer, usage);
  const { isWhole, runsLookedFrom } = answer;
  const isCut = (
    <>
      {error !== undefined && <Failure error={error} again={again} />}
      {!isWhole && (
        <p class="hint">
          The service checks a thousand of each kind, for a second, and did not see all: there may be more of
          these: {answer.cut.join(', ').replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)}.
        </p>
      )}
      {runsLookedFrom !== undefined && (
        <p class="hint">
          Only runs that started after this time were checked for hangs: <Time at={runsLookedFrom} isExact />.
        </p>
      )}
    </>
  );
  if (parts.length === 0) {
    return (
      <Frame
        tone={isWhole && !isHeld ? 'good' : 'idle'}
        title={!isWhole ? 'Nothing was found' : isHeld ? 'All else is well' : 'All is well'}
      >
        <p class="hint">
          No host is down or fails, no run hangs, nothing is paused, no schedule fails, no limit is near, and
          nothing has failed permanently within a day{!isWhole && ', as far as the service has checked'}.
        </p>
        {isCut}
      </Frame>
    );
  }
  return (
    <Frame tone="bad" title={`${countOf(parts.length, 'thing needs', 'things need')} attention`}>
      <ul>
        {parts.map(({ address, text, since }, index) => (
          <li key={index}>
            <a href={address}>
              <Visible text={text} />
            </a>
            {since !== undefined && (
              <span class="hint">
                <Time at={since} />
              </span>
            )}
          </li>
        ))}
      </ul>
      {[...(answer.hostsDown ?? []), ...(answer.failingHosts ?? [])].length > 0 && (
        <p>
          <a href={href(['dead-letters'], { list: 'failing' })}>Who is hit: messages that will be retried</a>
        </p>
      )}
      {isCut}
    </Frame>
  );
}

interface FrameProps {
  readonly tone: 'good' | 'bad' | 'idle';
  readonly title: string;
  readonly children: ComponentChildren;
}

const Frame = ({ tone, title, children }: FrameProps) => (
  <section class={classes('card', 'verdict', tone)} aria-labelledby="verdict">
    <h2 id="verdict">{title}</h2>
    {children}
  </section>
);
