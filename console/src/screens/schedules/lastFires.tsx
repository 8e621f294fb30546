import { messagePage, type schedule, scheduleFires, type Answer } from '../../../../lambdas/wire/answers.ts';
import { path } from '../../api/client.ts';
import { defaultIntervalMs, useAsked, type Asked } from '../../api/useAsked.ts';
import { href } from '../../place.ts';
import { Loaded } from '../../ui/resourcePage.tsx';
import { ButtonLink, Card, countOf, Cut, State } from '../../ui/basics.tsx';
import { Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { statusOf } from '../messages/messageTable.tsx';
import { hrefOfMessages } from '../links.tsx';

type Fire = Answer<typeof scheduleFires>['fires'][number];
type State = NonNullable<Fire['states']>[string];

/** The states of a fire's messages, most important first. */
const states: readonly State[] = ['FAIL', 'IN_PROGRESS', 'SUCCESS'];

/** The most important state among a fire's messages; undefined if no state is known. */
export function worstOf(of: Fire['states'] = {}): State | undefined {
  const all = Object.values(of);
  return states.find((one) => all.includes(one));
}

/** The number of consecutive failed fires, up to the last one. */
function failuresInRow(fires: readonly Fire[]): number {
  const firstGood = fires.findIndex(({ states: of, error }) => error === undefined && worstOf(of) !== 'FAIL');
  return firstGood === -1 ? fires.length : firstGood;
}

/** Why the last fire failed, and how many consecutive fires failed. */
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
    3 * defaultIntervalMs,
    String(since),
  );

export function LastFires({
  scheduleId,
  of: asked,
}: {
  readonly scheduleId: string;
  readonly of: ReturnType<typeof useLastFires>;
}) {
  return (
    <Card
      title="Last fires"
      actions={
        <ButtonLink kind="quiet" href={href(['messages'], { scheduleId })}>
          Show its messages
        </ButtonLink>
      }
    >
      <Loaded of={asked}>
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
      </Loaded>
    </Card>
  );
}

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
