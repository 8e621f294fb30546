import { globalParallelism, type Answer, type queue } from '../../../../lambdas/wire/answers.ts';
import { path } from '../../api/client.ts';
import { useLive } from '../../api/live.ts';
import { defaultIntervalMs, useAsked } from '../../api/useAsked.ts';
import { href } from '../../place.ts';
import { Act, sends } from '../../ui/action.tsx';
import { ButtonLink, Card, Failure, State } from '../../ui/basics.tsx';
import { Meter } from '../../ui/charts.tsx';
import { Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { MessageCard } from '../messages/messageTable.tsx';

export const LaneState = ({ isPaused }: { readonly isPaused: boolean }) => (
  <State state={isPaused ? 'paused' : 'active'} />
);

/** The account's deliveries in flight. Every delivery of the account takes a slot of this lane. */
export function GlobalParallelism() {
  // The top of the page already reports an outage.
  const { isLost } = useLive();
  const { answer, error } = useAsked(globalParallelism, { path: 'v2/globalParallelism' }, defaultIntervalMs);
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
  readonly of: 'queues' | 'flowControl';
  readonly name: string;
  readonly isPaused: boolean;
  readonly then: () => void;
  readonly isQuiet?: boolean;
}

/** Pauses or resumes a lane. */
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

interface WaitingProps {
  /** The name of the message filter for this kind of lane. */
  readonly filter: 'queueName' | 'flowControlKey';
  readonly name: string;
}

const waiting = 'CREATED,RETRY';

export const WaitingMessages = ({ filter, name }: WaitingProps) => (
  <ButtonLink href={href(['messages'], { state: waiting, [filter]: name })}>Show its messages</ButtonLink>
);

/** The age of the oldest message. A high age shows a problem before senders notice. */
export const Oldest = ({ at }: { readonly at: number | undefined }) =>
  at === undefined ? <>none</> : <Time at={at} />;

export function FairKeys({ of }: { readonly of: Answer<typeof queue>['fairKeys'] }) {
  if (of === undefined || of.length === 0) return null;
  return (
    <Card title="Fair keys that take turns">
      <Table
        caption="Fair keys, those with the most waiting messages first"
        rows={of}
        keyOf={({ fairKey }) => fairKey}
        columns={[
          { head: 'Fair key', isWide: true, text: ({ fairKey }) => fairKey },
          { head: 'Waiting', count: ({ waiting }) => waiting },
        ]}
      />
    </Card>
  );
}

/** Messages on a lane's page. */
const mostShown = 10;

/** The newest messages that wait in a flow-control key's line. */
export const WaitingCard = ({ name }: { readonly name: string }) => (
  <MessageCard
    title="The newest waiting messages"
    caption="Waiting messages, the newest first"
    query={{ state: waiting, flowControlKey: name, count: mostShown }}
    most={mostShown}
    empty={(isAll) => (isAll ? 'No message waits here.' : 'Looking…')}
  />
);
