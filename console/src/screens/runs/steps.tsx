/** The steps of a run on a timeline: a row for each, and a group for parallel steps. */
import { href, usePlace } from '../../place.ts';
import { Card, Empty, DetailList, State, toneOf, Visible } from '../../ui/basics.tsx';
import { Body } from '../../ui/body.tsx';
import { Time, clockTime, duration, exactly, useNow } from '../../ui/time.tsx';
import { thrownIn } from '../../../../lambdas/value/failureText.ts';
import { notRetried } from './failure.ts';
import {
  awaitedBy,
  doingOf,
  pausesOf,
  stateOfStep,
  timelineOf,
  type Bar,
  type Span,
  type Run,
  type Step,
} from './timeline.ts';
import { hrefOfRun, linkTo, linkToRun } from '../links.tsx';

export function Timeline({ run }: { readonly run: Run }) {
  const now = useNow();
  const groups = timelineOf(run, now);
  const { workflowRunCreatedAt: begun, workflowRunCompletedAt: ended = now } = run;
  const length = Math.max(1, ended - begun);
  const rowOf = (bar: Bar) => (
    <Row key={bar.key} bar={bar} begun={begun} length={length} keptFrom={run.resumedFrom} />
  );
  return (
    <Card title="Steps">
      {groups.length === 0 ? (
        <Empty title="No step has been recorded." />
      ) : (
        <ol class="steps">
          <li class="axis" aria-hidden="true">
            <span>0</span>
            <span>{duration(length / 2)}</span>
            <span>{duration(length)}</span>
          </li>
          {groups.map((bars) =>
            bars.length === 1 ? (
              bars.map(rowOf)
            ) : (
              <li key={bars[0]?.key} class="parallel">
                <ol aria-label={`${bars.length} steps in parallel`}>{bars.map(rowOf)}</ol>
              </li>
            ),
          )}
        </ol>
      )}
    </Card>
  );
}

export function RunState({ of }: { readonly of: Pick<Run, 'workflowState' | 'steps' | 'hanging'> }) {
  const doing = doingOf(of, Date.now());
  const state = of.hanging === undefined ? of.workflowState : 'FAILED';
  return <State state={state} {...(doing !== undefined && { name: doing })} />;
}

interface RowProps {
  readonly bar: Bar;
  /** The time at the left end, and the length of the timeline (ms). */
  readonly begun: number;
  readonly length: number;
  readonly keptFrom: Run['resumedFrom'];
}

/** The width of the drawing in its own units. */
const width = 1_000;
/** The least width of a bar, so that a step of a millisecond is visible. */
const least = 6;

function Row({ bar, begun, length, keptFrom }: RowProps) {
  const place = usePlace();
  const { key, step, from, until } = bar;
  const isKept = step.kept === true;
  const shown = stateOfStep(step);
  const isOpen = place.query.get('step') === key;
  const query = new URLSearchParams(place.query);
  if (isOpen) query.delete('step');
  else query.set('step', key);
  const xOf = (at: number): number => ((at - begun) / length) * width;
  const startOf = (of: Span): number => Math.min(width - least, xOf(of.from));
  const widthOf = (of: Span): number => xOf(of.until) - xOf(of.from);
  const tone = isWaiting(step) || isKept ? 'idle' : toneOf(shown.state);
  const name = step.stepName ?? 'The next step';
  return (
    <li>
      <div class="step">
        <a class="cut" href={href(place.path, query)} aria-expanded={isOpen} title={name}>
          <Visible text={name} />
        </a>
        <span class="hint">{wordsOf(step.stepType)}</span>
        <svg viewBox={`0 0 ${width} 10`} preserveAspectRatio="none" aria-hidden="true">
          <rect class={tone} x={startOf(bar)} width={Math.max(least, widthOf(bar))} height="10" rx="2" />
          {pausesOf(bar).map((pause) => (
            <g key={pause.from}>
              <rect class="idle" x={xOf(pause.from)} width={widthOf(pause)} y="3" height="4" />
              <rect class="bad" x={startOf(pause)} width={least} height="10" />
            </g>
          ))}
        </svg>
        <span class="number">{isKept ? '–' : duration(until - from)}</span>
        <State {...shown} />
        {isKept && keptFrom !== undefined && <span class="hint note">kept from {linkToRun(keptFrom)}</span>}
        <AwaitedBy step={step} />
      </div>
      {isOpen && <Details bar={bar} />}
    </li>
  );
}

function AwaitedBy({ step }: { readonly step: Step }) {
  const awaited = awaitedBy(step);
  if (awaited === undefined) return null;
  const { what, until } = awaited;
  return (
    <span class="hint note">
      awaits <Visible text={what} />
      {until !== undefined && (
        <>
          , until {clockTime(until)} (<Time at={until} />)
        </>
      )}
    </span>
  );
}

const wordsOf = (type = ''): string => type.replace(/(?<=[a-z])(?=[A-Z])/g, ' ').toLowerCase();

const isWaiting = ({ stepType, state }: Step): boolean =>
  /^(Sleep|Wait)/.test(stepType ?? '') && (state === 'STEP_SUCCESS' || state === 'STEP_PROGRESS');

function Details({ bar: { step, from, until } }: { readonly bar: Bar }) {
  const { invokedWorkflowRunId: invoked, invokedWorkflowCreatedAt: invokedAt = 0 } = step;
  const bodies: readonly (readonly [string, string | undefined])[] = [
    // Not for a call whose answer is shown.
    ['Result', step.callResponseBody === undefined ? step.out : undefined],
    ['Request', step.callBody ?? step.invokedWorkflowRunBody],
    ['Answer', step.callResponseBody],
  ];
  return (
    <div class="step-details">
      <DetailList
        of={[
          ['Message', linkTo('messages', step.messageId)],
          ['Started', exactly(from)],
          ['Ended', exactly(/PROGRESS|RETRY/.test(step.state) ? undefined : until)],
          ['Maximum retries', step.retries],
          ['Retry delay', step.retryDelay],
          ['Next attempt', exactly(step.nextDeliveryTime)],
          ['Sleeps for', step.sleepFor && duration(step.sleepFor)],
          ['Sleeps until', exactly(step.sleepUntil)],
          [
            'Waits for the event',
            step.waitEventId && (
              <code>
                <Visible text={step.waitEventId} />
              </code>
            ),
          ],
          ['Timeout', step.waitTimeoutDuration],
          ['Continues without it', exactly(step.waitTimeoutDeadline)],
          [
            'Continued',
            step.waitTimeout === undefined
              ? undefined
              : step.waitTimeout
                ? 'without the event'
                : 'with the event',
          ],
          ['Calls', step.callUrl && <code>{`${step.callMethod ?? ''} ${step.callUrl}`}</code>],
          ['Status', step.callResponseStatus],
          ['Invokes', invoked && <a href={hrefOfRun(invoked, invokedAt)}>{invoked}</a>],
        ]}
      />
      {bodies.map(
        ([name, text]) =>
          text !== undefined && (
            <div key={name}>
              <h3>{name}</h3>
              <Body label={`${name.toLowerCase()} of ${step.stepName ?? 'the step'}`} text={text} />
            </div>
          ),
      )}
      <Errors of={step.errors} label="failed attempt" />
    </div>
  );
}

/**
 * Failed attempts, oldest first: the error with its stack, or the answer.
 *
 * @param label distinguishes these answers from others on the page
 */
export const Errors = ({ of = [], label }: { readonly of?: Step['errors']; readonly label: string }) => (
  <>
    {of.map(({ time, error, body, status }, index) => {
      const found = thrownIn(body);
      const name = `${label} ${index + 1}`;
      const why = status === notRetried ? 'not to be retried' : error;
      return (
        <div key={index} class="stack">
          <p class="wrong">
            {found === undefined ? (
              why
            ) : (
              <>
                <strong>
                  <Visible text={found.sentence} />
                </strong>{' '}
                ({why})
              </>
            )}{' '}
            <Time at={time} isExact />
          </p>
          {found?.stack !== undefined ? (
            <Body label={name} text={found.stack} />
          ) : (
            body !== '' && <Body label={name} text={body} />
          )}
        </div>
      );
    })}
  </>
);
