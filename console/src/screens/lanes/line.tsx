/** The waiting line of a queue: what is next, what blocks it, its speed, and who paused it. */
import type { ComponentChildren } from 'preact';
import { auditPage } from '../../../../lambdas/wire/accountAnswers.ts';
import {
  messageInAnyState,
  messagePage,
  type Answer,
  type listedMessage,
} from '../../../../lambdas/wire/answers.ts';
import { type queue } from '../../../../lambdas/wire/laneAnswers.ts';
import { path } from '../../api/client.ts';
import { oftenMs, useAsked } from '../../api/useAsked.ts';
import { href } from '../../place.ts';
import { LoadedCard } from '../../ui/resourcePage.tsx';
import { count, countOf } from '../../ui/basics.tsx';
import { Bars } from '../../ui/charts.tsx';
import { duration, Time, timeToMinute, useNow } from '../../ui/time.tsx';
import { Actor } from '../audit/parts.tsx';
import { MessageTable } from '../messages/messageTable.tsx';

type Queue = Answer<typeof queue>;
type Message = Answer<typeof listedMessage>;

export function PausedBy({ name }: { readonly name: string }) {
  const { answer } = useAsked(auditPage, {
    path: 'v2/audit',
    query: { subject: name, action: 'queue.pause,queue.save', count: 1 },
  });
  const [last] = answer?.entries ?? [];
  if (last === undefined) return null;
  return (
    <span>
      by <Actor of={last.actor} isInSentence />, <Time at={last.time} />
    </span>
  );
}

const unended = 'CREATED,RETRY,ACTIVE';
/**
 * The API returns the newest messages first. So the first messages of a line that is longer than this are
 * requested separately.
 */
const mostRead = 100;
const mostShown = 10;

/** The first messages of a line, oldest first. If the line does not fit on a page, only the very first. */
function useHead({ name, lag, oldestAt }: Queue) {
  const query = { queueName: name, state: unended, count: mostRead };
  const useMessages = (
    isAsked: boolean,
    more: { fromDate?: number | undefined; toDate?: number | undefined },
  ) =>
    useAsked(
      messagePage,
      oldestAt !== undefined && isAsked ? { path: 'v2/messages', query: { ...query, ...more } } : undefined,
      oftenMs,
    );
  const all = useMessages(lag <= mostRead, { fromDate: oldestAt });
  const isLong = lag > mostRead || all.cursor !== undefined;
  const first = useMessages(isLong, { toDate: oldestAt });
  const asked = isLong ? first : all;
  // A delayed message enters the line when it is due.
  const isDue = ({ state, nextDeliveryTime = 0 }: Message): boolean =>
    state !== 'CREATED' || nextDeliveryTime <= Date.now();
  const head = asked.answer?.messages.filter(isDue).toReversed() ?? [];
  return { asked, head: head.slice(0, isLong ? 1 : mostShown), isLong };
}

function Blocked({ of, by: { paused, parallelism } }: { readonly of: Message; readonly by: Queue }) {
  const { answer } = useAsked(
    messageInAnyState,
    { path: path`v2/messages/${of.messageId}`, query: { state: 'ALL' } },
    oftenMs,
  );
  const flowControlKey = answer?.flowControlKey;
  const heldBy = answer?.heldBy;
  const reasons: ComponentChildren[] = [];
  if (paused) reasons.push('The queue is paused: none of its messages is delivered.');
  if (heldBy !== undefined) {
    reasons.push(
      <>
        <a href={href(['flow-control'])}>{heldBy.host}</a> is down
        {heldBy.openedAt !== undefined && (
          <>
            {' '}
            since <Time at={heldBy.openedAt} />
          </>
        )}
        , and the first message waits for it.
      </>,
    );
  } else if (of.state === 'RETRY' && of.nextDeliveryTime !== undefined) {
    reasons.push(
      <>
        The first message has failed {countOf(of.retried, 'time')}; its next attempt is due{' '}
        <Time at={of.nextDeliveryTime} />.{parallelism === 1 && ' All others wait for it.'}
      </>,
    );
  } else if (of.state === 'ACTIVE') {
    reasons.push('The first message waits to be completed by its destination.');
  } else if (!paused) {
    reasons.push('The first message is being delivered, or is about to be.');
  }
  if (flowControlKey !== undefined) {
    reasons.push(
      <>
        It also needs its turn with <a href={href(['flow-control', flowControlKey])}>{flowControlKey}</a>.
      </>,
    );
  }
  return (
    <>
      {reasons.map((reason, index) => (
        <p key={index}>{reason}</p>
      ))}
    </>
  );
}

export function Head({ of }: { readonly of: Queue }) {
  const { asked, head, isLong } = useHead(of);
  const [first] = head;
  return (
    <LoadedCard title="Next in line" of={asked}>
      {() =>
        first === undefined ? (
          <p class="hint">
            {of.lag === 0
              ? 'No message waits here.'
              : `${countOf(of.lag, 'message')} waiting; the first was not found in time.`}
          </p>
        ) : (
          <>
            <Blocked of={first} by={of} />
            <MessageTable caption="The next messages, the first at the top" of={head} />
            {of.fairKeys !== undefined && (
              <p class="hint">
                These are the oldest. Fair keys take turns, so other messages may be delivered first.
              </p>
            )}
            {(isLong || of.lag > head.length) && (
              <p class="hint">{`${count(Math.max(0, of.lag - head.length))} more are behind ${head.length === 1 ? 'it' : 'them'}.`}</p>
            )}
          </>
        )
      }
    </LoadedCard>
  );
}

/** How many of the last messages are read, and in how many bars they are shown. */
const mostEnded = 100;
const bars = 24;
const paceEveryMs = 10_000;
const leastMs = 60_000;

/** The speed of a queue, estimated from the last messages that ended. */
export function Pace({ of: { name, lag } }: { readonly of: Queue }) {
  const asked = useAsked(
    messagePage,
    { path: 'v2/messages', query: { queueName: name, state: 'DELIVERED,FAILED,CANCELED', count: mostEnded } },
    paceEveryMs,
  );
  const now = useNow();
  return (
    <LoadedCard title="Throughput" of={asked}>
      {({ messages }) => {
        const ended = messages.flatMap(({ endedAt, state }) =>
          endedAt === undefined ? [] : [{ endedAt, isDelivered: state === 'DELIVERED' }],
        );
        const none = asked.cursor
          ? 'No ended message was found in time.'
          : 'No message of it ended recently.';
        if (ended.length === 0) return <p class="hint">{none}</p>;
        const from = Math.min(...ended.map(({ endedAt }) => endedAt), now - leastMs);
        const stepMs = (now - from) / bars;
        const perMinute = (ended.length * leastMs) / (now - from);
        const within = (wanted: boolean) =>
          Array.from(
            { length: bars },
            (_, bar) =>
              ended.filter(
                ({ endedAt, isDelivered }) =>
                  isDelivered === wanted && Math.min(bars - 1, Math.floor((endedAt - from) / stepMs)) === bar,
              ).length,
          );
        return (
          <>
            <Bars
              title={`${perMinute.toFixed(perMinute < 10 ? 1 : 0)} a minute`}
              names={Array.from({ length: bars }, (_, bar) => timeToMinute(from + bar * stepMs))}
              per={`in ${duration(stepMs)}`}
              series={[
                { name: 'delivered', tone: 'good', values: within(true) },
                { name: 'failed or cancelled', tone: 'bad', values: within(false) },
              ]}
            />
            <p class="hint">
              The last {countOf(ended.length, 'message')} that ended, since <Time at={from} />.
              {lag > 0 &&
                ` At this pace, the ${count(lag)} that wait take ${duration((lag / perMinute) * leastMs)}.`}
            </p>
          </>
        );
      }}
    </LoadedCard>
  );
}
