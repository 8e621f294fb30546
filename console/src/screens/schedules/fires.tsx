/** A schedule's next and last fires, and its cron expression in words, which the API explains. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { messagePage, type schedule, type Answer } from '../../../../lambdas/wire/answers.ts';
import { explainedCron, scheduleFires } from '../../../../lambdas/wire/cronAnswers.ts';
import { path } from '../../api/client.ts';
import { oftenMs, useAsked, type Asked } from '../../api/useAsked.ts';
import { href } from '../../place.ts';
import { ButtonLink, countOf, Cut, State } from '../../ui/basics.tsx';
import { LoadedCard } from '../../ui/resourcePage.tsx';
import { Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { hrefOfMessages } from '../links.tsx';
import { statusOf } from '../messages/messageTable.tsx';

type Explained = Answer<typeof explainedCron>;

/** An expression is explained when the user has not typed for this long (ms). */
const typingMs = 250;

/** Explains an expression while it is typed. The last explanation is shown until the next arrives. */
export function useExplained(text: string): Pick<Asked<Explained>, 'answer' | 'error'> {
  const expression = text.trim();
  const [settled, setSettled] = useState(expression);
  useEffect(() => {
    if (expression === settled) return undefined;
    const timer = setTimeout(() => {
      setSettled(expression);
    }, typingMs);
    return () => {
      clearTimeout(timer);
    };
  }, [expression, settled]);
  const { answer, error } = useAsked(
    explainedCron,
    settled === '' ? undefined : { path: 'v2/cron', query: { expression: settled } },
  );
  const last = useRef<Explained | undefined>(undefined);
  if (answer !== undefined || error !== undefined || settled === '') last.current = answer;
  return { answer: last.current, error };
}

/** Time zones that browsers and the service call by an old name. */
const todaysNames: ReadonlyMap<string, string> = new Map([
  ['Africa/Asmera', 'Africa/Asmara'],
  ['America/Buenos_Aires', 'America/Argentina/Buenos_Aires'],
  ['America/Godthab', 'America/Nuuk'],
  ['Asia/Calcutta', 'Asia/Kolkata'],
  ['Asia/Katmandu', 'Asia/Kathmandu'],
  ['Asia/Rangoon', 'Asia/Yangon'],
  ['Asia/Saigon', 'Asia/Ho_Chi_Minh'],
  ['Atlantic/Faeroe', 'Atlantic/Faroe'],
  ['Europe/Kiev', 'Europe/Kyiv'],
]);

export const nameOfZone = (zone: string): string => todaysNames.get(zone) ?? zone;

export const viewersZone = (): string => nameOfZone(new Intl.DateTimeFormat().resolvedOptions().timeZone);

const dayAndTime = (at: number, timeZone: string): string =>
  new Date(at).toLocaleString(undefined, {
    weekday: 'short',
    day: 'numeric',
    month: 'short',
    year: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    timeZone,
  });

export function NextFires({ of: { description, nextFires, ...of } }: { readonly of: Explained }) {
  const timezone = nameOfZone(of.timezone);
  const zone = viewersZone();
  return (
    <>
      <p role="status">
        {description} <span class="hint">Times in {timezone}</span>
      </p>
      <h3>Next fires in your time ({zone})</h3>
      <ol class="fires">
        {nextFires.map((at) => (
          <li key={at}>
            {dayAndTime(at, zone)}
            {zone !== timezone && (
              <span>
                {dayAndTime(at, timezone)} <span class="hint">{timezone}</span>
              </span>
            )}
            <span class="hint">
              <Time at={at} />
            </span>
          </li>
        ))}
      </ol>
    </>
  );
}

type Fire = Answer<typeof scheduleFires>['fires'][number];
type State = NonNullable<Fire['states']>[string];

const states: readonly State[] = ['FAIL', 'IN_PROGRESS', 'SUCCESS'];

/** The most important state of a fire's messages; undefined if no state is known. */
export function worstOf(of: Fire['states'] = {}): State | undefined {
  const all = Object.values(of);
  return states.find((one) => all.includes(one));
}

function failuresInRow(fires: readonly Fire[]): number {
  const firstGood = fires.findIndex(({ states: of, error }) => error === undefined && worstOf(of) !== 'FAIL');
  return firstGood === -1 ? fires.length : firstGood;
}

export function WhyFailed({ of }: { readonly of: Answer<typeof schedule> }) {
  const fires = useLastFires(of).answer?.fires ?? [];
  const [last] = fires;
  const [failedId] = Object.entries(last?.states ?? {}).find(([, state]) => state === 'FAIL') ?? [];
  const { answer } = useAsked(
    messagePage,
    failedId === undefined
      ? undefined
      : { path: 'v2/messages', query: { messageIds: failedId, state: 'ALL' } },
  );
  const [message] = answer?.messages ?? [];
  const inRow = failuresInRow(fires);
  return (
    <div class="hint why">
      {last?.error !== undefined && <Cut text={last.error} />}
      {message !== undefined && (
        <a href={href(['messages', message.messageId])}>
          {message.state === 'CANCELED' ? 'The message was cancelled' : `Answer: ${statusOf(message)}`}
        </a>
      )}
      {inRow > 1 && ` ${inRow === fires.length ? 'At least ' : ''}${inRow} in a row`}
    </div>
  );
}

export const useLastFires = ({
  scheduleId,
  lastScheduleTime: since,
}: Answer<typeof schedule>): Asked<Answer<typeof scheduleFires>> =>
  useAsked(
    scheduleFires,
    since === undefined ? undefined : { path: path`v2/schedules/${scheduleId}/fires` },
    // Messages of the last fire may still be in progress.
    3 * oftenMs,
    String(since),
  );

interface LastFiresProps {
  readonly scheduleId: string;
  readonly of: ReturnType<typeof useLastFires>;
}

export const LastFires = ({ scheduleId, of }: LastFiresProps) => (
  <LoadedCard
    title="Last fires"
    of={of}
    actions={
      <ButtonLink kind="quiet" href={href(['messages'], { scheduleId })}>
        Show its messages
      </ButtonLink>
    }
  >
    {({ fires }) => (
      <Table
        caption="The last fires, the newest first"
        rows={fires}
        keyOf={({ time }) => String(time)}
        columns={[
          {
            head: 'Fired',
            cell: ({ time }) => (
              <span>
                <Time at={time} isExact />{' '}
                <span class="hint">
                  <Time at={time} />
                </span>
              </span>
            ),
          },
          { head: 'Outcome', cell: (fire) => <Outcome of={fire} /> },
          { head: 'Messages', isWide: true, cell: (fire) => <Messages of={fire} /> },
        ]}
      />
    )}
  </LoadedCard>
);

function Outcome({ of: { states: of, error } }: { readonly of: Fire }) {
  const state = error === undefined ? worstOf(of) : 'FAIL';
  return state === undefined ? <>–</> : <State state={state} />;
}

function Messages({ of: { states: of = {}, messages, error } }: { readonly of: Fire }) {
  if (error !== undefined) return <span class="wrong">{error}</span>;
  if (messages === undefined) return <>–</>;
  const ids = Object.keys(of);
  const [only] = ids;
  const text = messages === 1 && only !== undefined ? only : countOf(messages, 'message');
  return ids.length === 0 ? <>{text}</> : <a href={hrefOfMessages(ids)}>{text}</a>;
}
