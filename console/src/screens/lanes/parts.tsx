/** Parts that queues and flow-control keys share. */
import { globalParallelism, messagePage, type Answer, type queue } from '../../../../lambdas/wire/answers.ts';
import { path } from '../../api/client.ts';
import { useLive } from '../../api/live.ts';
import { oftenMs, useAsked, usePages } from '../../api/useAsked.ts';
import { href } from '../../place.ts';
import { Act } from '../../ui/act.tsx';
import { ButtonLink, Card, count, Cut, Failure, State } from '../../ui/basics.tsx';
import { Meter } from '../../ui/charts.tsx';
import { Listed, Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { MessageTable } from '../messages/messageTable.tsx';

export const LaneState = ({ isPaused }: { readonly isPaused: boolean }) => (
  <State state={isPaused ? 'paused' : 'active'} />
);

/** The deliveries of the whole account that are in flight: the lane behind all others. */
export function GlobalParallelism() {
  // An outage is told at the top of the page.
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
  /** The name in the API's paths. */
  readonly of: 'queues' | 'flowControl';
  readonly name: string;
  readonly isPaused: boolean;
  readonly then: () => void;
  readonly isQuiet?: boolean;
}

/** Pauses a lane, or resumes it. */
export function Pause({ of, name, isPaused, then, isQuiet = false }: PauseProps) {
  const verb = isPaused ? 'Resume' : 'Pause';
  return (
    <Act
      kind={isQuiet ? 'quiet' : 'plain'}
      label={`${verb} ${name}`}
      request={{ path: path`v2/${of}/${name}/${verb.toLowerCase()}` }}
      said={`“${name}” is ${isPaused ? 'resumed' : 'paused'}.`}
      then={then}
    >
      {verb}
    </Act>
  );
}

interface WaitingProps {
  /** The filter of messages by the lane. */
  readonly filter: 'queueName' | 'flowControlKey';
  readonly name: string;
}

const waiting = 'CREATED,RETRY';

export const WaitingMessages = ({ filter, name }: WaitingProps) => (
  <ButtonLink href={href(['messages'], { state: waiting, [filter]: name })}>Show its messages</ButtonLink>
);

/** The age of the oldest message, of which an account may want to know before its senders do. */
export const Oldest = ({ at }: { readonly at: number | undefined }) =>
  at === undefined ? <>none</> : <Time at={at} />;

/** The fair keys whose messages wait in a lane. */
export function FairKeys({ of }: { readonly of: Answer<typeof queue>['fairKeys'] }) {
  if (of === undefined || of.length === 0) return null;
  return (
    <Card title="Fair keys that take turns">
      <Table
        caption="Fair keys, those with most messages that wait first"
        rows={of}
        keyOf={({ fairKey }) => fairKey}
        columns={[
          { head: 'Fair key', isWide: true, cell: ({ fairKey }) => <Cut text={fairKey} /> },
          { head: 'Waiting', isNumber: true, cell: (one) => count(one.waiting) },
        ]}
      />
    </Card>
  );
}

/** Messages that are shown on a lane's own page. */
const mostShown = 10;

/** The newest messages that wait for their turn with a flow-control key. */
export function WaitingCard({ name }: { readonly name: string }) {
  const query = { state: waiting, flowControlKey: name, count: mostShown };
  const list = usePages(messagePage, { path: 'v2/messages', query }, ({ messages }) => messages);
  return (
    <Card title="What waits, the newest">
      <Listed
        list={{ ...list, more: undefined }}
        empty={<p class="hint">{list.more === undefined ? 'No message waits here.' : 'Looking…'}</p>}
      >
        {(messages) => (
          <MessageTable caption="Messages that wait, the newest first" of={messages.slice(0, mostShown)} />
        )}
      </Listed>
    </Card>
  );
}
