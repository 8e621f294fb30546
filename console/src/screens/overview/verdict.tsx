/** The verdict: all is well, or a list of problems with links. */
import type { ComponentChildren } from 'preact';
import { useAttention, type Attention, type AttentionPart, type Stats } from '../../api/attention.ts';
import { href } from '../../place.ts';
import { classes, count, countOf, dollars, Failure, Visible } from '../../ui/basics.tsx';
import { clockTime, Time } from '../../ui/time.tsx';
import { hrefOfHost, hrefOfRun, hrefOfSchedule, sayHanging } from '../links.tsx';

/** A limit of the account, and how much of it is used. */
interface UsedLimit {
  readonly label: string;
  readonly value: number;
  /** 0 if there is no limit. */
  readonly most: number;
  /** Says what the service does at the limit. */
  readonly note: string;
  readonly show?: (value: number) => string;
  /** The screen that shows what uses the limit up. */
  readonly address: string;
  /** Whether reaching the limit is no problem, because the rest waits. */
  readonly isFullFine?: boolean;
}

export const usedLimits = ({ today, month, limits, inFlight, deadLetters }: Stats): readonly UsedLimit[] => [
  {
    label: 'Messages today, soft limit',
    value: today.requests,
    most: limits.max_requests_per_day,
    note: 'Callbacks do not count. Above this, answers have a warning.',
    address: href(['messages']),
  },
  {
    label: 'Messages today, hard limit',
    value: today.requests,
    most: limits.max_requests_per_day_hard,
    note: 'Callbacks do not count. Above this, messages are refused.',
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
    note: 'More than this wait.',
    address: href(['flow-control']),
    isFullFine: true,
  },
];

/** A limit is near from this share on. */
const near = 0.8;

const nearLimits = (usage: Stats): readonly { readonly text: string; readonly address: string }[] =>
  usedLimits(usage).flatMap(({ label, value, most, show = count, address, isFullFine = false }) =>
    isFullFine || most === 0 || value < near * most
      ? []
      : [{ text: `${label}: ${show(value)} of ${show(most)}`, address }],
  );

interface Part {
  readonly key: string;
  readonly address: string;
  readonly text: string;
  /** Since when, in Unix milliseconds. */
  readonly since?: number | undefined;
}

const holds = (waiting: number): string =>
  waiting === 0 ? 'holds nothing' : `holds ${countOf(waiting, 'message')}`;

/** Problems of a kind that are shown individually. The others are counted. */
const mostShown = 5;

function some<T>(all: readonly T[], partOf: (one: T) => Part, more: Pick<Part, 'key' | 'address'>): Part[] {
  const shown = all.slice(0, mostShown).map(partOf);
  const rest = all.length - shown.length;
  return rest === 0 ? shown : [...shown, { ...more, text: `and ${count(rest)} more` }];
}

const withMost = <T extends { readonly waiting: number }>(all: readonly T[] = []): readonly T[] =>
  all.toSorted((one, other) => other.waiting - one.waiting);

function partsOf(of: Attention, usage: Stats): readonly Part[] {
  const lanes = href(['flow-control']);
  const { since: fromDate } = of;
  const atLeast = (part: AttentionPart): string => (of.cut.includes(part) ? 'At least ' : '');
  return [
    ...some(
      withMost(of.hostsDown),
      ({ host, waiting, openedAt }) => ({
        key: `host ${host}`,
        address: lanes,
        text: `${host} is down and ${holds(waiting)}`,
        since: openedAt,
      }),
      { key: 'hosts', address: lanes },
    ),
    ...some(
      of.failingHosts ?? [],
      ({ host, attempts, failures, failingSince, lastSuccess }) => ({
        key: `failing ${host}`,
        address: hrefOfHost(host),
        text: `${host} has been failing since ${clockTime(failingSince)}: ${count(failures)} of ${countOf(attempts, 'attempt')} failed, ${lastSuccess === undefined ? 'with no success before' : `last success ${clockTime(lastSuccess)}`}`,
        since: failingSince,
      }),
      { key: 'failing', address: href(['overview']) },
    ),
    ...some(
      of.hangingRuns ?? [],
      ({ workflowRunId, workflowCreatedAt, workflowUrl, since, status }) => ({
        key: `run ${workflowRunId} ${workflowCreatedAt}`,
        address: hrefOfRun(workflowRunId, workflowCreatedAt),
        text: `A run of ${workflowUrl} hangs. ${sayHanging({ since, status })}`,
        since,
      }),
      { key: 'hanging', address: href(['runs'], { state: 'RUN_STARTED' }) },
    ),
    ...some(
      withMost(of.pausedQueues),
      ({ name, waiting }) => ({
        key: `queue ${name}`,
        address: href(['queues', name]),
        text: `The queue ${name} is paused and ${holds(waiting)}`,
      }),
      { key: 'queues', address: href(['queues']) },
    ),
    ...some(
      withMost(of.pausedKeys),
      ({ flowControlKey: key, waiting }) => ({
        key: `key ${key}`,
        address: href(['flow-control', key]),
        text: `The flow-control key ${key} is paused and ${holds(waiting)}`,
      }),
      { key: 'keys', address: lanes },
    ),
    ...some(
      of.failingSchedules ?? [],
      ({ scheduleId, firedAt, error }) => ({
        key: `schedule ${scheduleId}`,
        address: hrefOfSchedule(scheduleId),
        text: `The schedule ${scheduleId} failed with its last fire${error === undefined ? '' : `: ${error}`}`,
        since: firedAt,
      }),
      { key: 'schedules', address: href(['schedules']) },
    ),
    ...(of.deadLetters === 0 || (of.deadLetters === undefined && usage.deadLetters === 0)
      ? []
      : [
          {
            key: 'dead letters',
            address: href(['dead-letters'], { fromDate }),
            text:
              of.deadLetters === undefined
                ? `${countOf(usage.deadLetters, 'dead letter is', 'dead letters are')} kept; it is unknown how many are new`
                : `${atLeast('deadLetters')}${countOf(of.deadLetters, 'new dead letter')} within a day${of.cut.includes('deadLetters') ? `, of ${count(usage.deadLetters)} that are kept` : ''}`,
          },
        ]),
    ...(of.failedRuns === undefined || of.failedRuns === 0
      ? []
      : [
          {
            key: 'runs',
            address: href(['runs'], { list: 'failed', fromDate }),
            text: `${atLeast('failedRuns')}${countOf(of.failedRuns, 'failed workflow run')} within a day`,
          },
        ]),
    ...nearLimits(usage).map(({ text, address }) => ({ key: text, address, text })),
  ];
}

/** Shown once it is known what needs attention, or why it is not. */
export function Verdict({ usage }: { readonly usage: Stats }) {
  const { answer, error, again } = useAttention();
  if (answer === undefined) {
    return (
      <Frame tone="idle" title="It is unknown whether all is well.">
        {error !== undefined && <Failure error={error} again={again} />}
      </Frame>
    );
  }
  const parts = partsOf(answer, usage);
  const { isWhole } = answer;
  const { runsLookedFrom } = answer;
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
          Whether a run hangs was looked at for those started since <Time at={runsLookedFrom} isExact />.
        </p>
      )}
    </>
  );
  if (parts.length === 0) {
    return (
      <Frame tone={isWhole ? 'good' : 'idle'} title={isWhole ? 'All is well' : 'Nothing was found'}>
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
        {parts.map(({ key, address, text, since }) => (
          <li key={key}>
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
      {isCut}
    </Frame>
  );
}

const Frame = ({
  tone,
  title,
  children,
}: {
  readonly tone: 'good' | 'bad' | 'idle';
  readonly title: string;
  readonly children: ComponentChildren;
}) => (
  <section class={classes('card', 'verdict', tone)} aria-labelledby="verdict">
    <h2 id="verdict">{title}</h2>
    {children}
  </section>
);
