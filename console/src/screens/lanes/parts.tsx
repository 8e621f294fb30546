/** Parts that queues and flow-control keys share. */
import { globalParallelism } from '../../../../lambdas/wire/answers.ts';
import { path } from '../../api/client.ts';
import { oftenMs, useAsked } from '../../api/useAsked.ts';
import { href } from '../../place.ts';
import { Act } from '../../ui/act.tsx';
import { ButtonLink, Card, Failure, State } from '../../ui/basics.tsx';
import { Meter } from '../../ui/charts.tsx';

export const LaneState = ({ isPaused }: { readonly isPaused: boolean }) => (
  <State state={isPaused ? 'paused' : 'active'} />
);

/** The deliveries of the whole account that are in flight: the lane behind all others. */
export function GlobalParallelism() {
  const { answer, error } = useAsked(globalParallelism, { path: 'v2/globalParallelism' }, oftenMs);
  return (
    <Card>
      {error !== undefined && <Failure error={error} />}
      <Meter
        label="Deliveries of the account in flight"
        value={answer?.parallelismCount ?? 0}
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

export const WaitingMessages = ({
  filter,
  name,
}: {
  readonly filter: 'queueName' | 'flowControlKey';
  readonly name: string;
}) => (
  <ButtonLink href={href(['messages'], { state: 'CREATED,RETRY', [filter]: name })}>
    Show its messages
  </ButtonLink>
);
