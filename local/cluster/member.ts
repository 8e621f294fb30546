/** A process of a stage with several. */
import { Socket } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { inspect } from 'node:util';
import { toMember, type ToMember, type ToPrimary } from './protocol.ts';
import type { Share } from '../stage/share.ts';
import { startStage, type Stage } from '../stage/stage.ts';
import { StageError } from '../stage/stageError.ts';
import type { ParkedJobs } from '../sqs/redrive.ts';

type MemberOptions = Parameters<typeof startStage>[0];

/** The pause before it tries again to become the leading process, for example while the disk is full. */
const retryAfterMs = 1_000;

type Take = Parameters<NonNullable<Share['onFronts']>>[0];
type Start = Extract<ToMember, { kind: 'start' }>;
type Other = Exclude<ToMember, { kind: 'start' | 'connection' }>;

/** Runs until the primary stops it, or has ended. */
export function runMember(options: MemberOptions): void {
  const { report } = options;
  // Kills this process, because an orderly exit could wait for a transaction forever. The data directory is
  // free when all processes have ended.
  const end = (): boolean => process.kill(process.pid, 'SIGKILL');
  process.on('disconnect', end);
  if (!process.connected) end();
  // The terminal sends these signals to all processes. Only the primary acts on them.
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => undefined);
  const tell = (message: ToPrimary): void => {
    process.send?.(message);
  };
  const asked: ((jobs: readonly ParkedJobs[]) => void)[] = [];
  let onFronts: Share['onFronts'];
  const fronts = new Promise<Take>((resolve) => {
    onFronts = resolve;
  });

  const start = (message: Start): Promise<Stage> => {
    const share = {
      ...message,
      ...(onFronts !== undefined && { onFronts }),
      tell: (fire: Extract<ToPrimary, { kind: 'planned' }>['fire']) => {
        tell({ kind: 'planned', fire });
      },
      redriveAll: async () => {
        const answer = new Promise<readonly ParkedJobs[]>((resolve) => asked.push(resolve));
        tell({ kind: 'redriveAll' });
        return (await answer).reduce(sum);
      },
    };
    return startStage({ ...options, share });
  };

  const lead = async (stage: Stage): Promise<void> => {
    try {
      await stage.lead();
    } catch (error) {
      report(error);
      await setTimeout(retryAfterMs);
      await lead(stage);
    }
  };

  const act = async (message: Other, stage: Stage): Promise<void> => {
    switch (message.kind) {
      case 'adopt':
        await stage.adopt(message.owners, message.isAfterKill);
        break;
      case 'lead':
        await lead(stage);
        break;
      case 'readAgain':
        await stage.readAgain();
        break;
      case 'peers':
        await stage.addPeers(message.hosts);
        break;
      case 'stop':
        if (message.isReplaced) {
          stage.replace();
          await stage.resign();
        }
        tell({ kind: 'resigned' });
        await stage.stop();
        process.exit(0);
        break;
      case 'planned':
        stage.planned(message.fire);
        break;
      case 'redrive':
        tell({ kind: 'redriven', jobs: await stage.redrive() });
        break;
      case 'redriven':
        asked.shift()?.(message.jobs);
    }
  };

  let begin: (message: Start) => void = () => undefined;
  // Other messages may arrive before the start message.
  const starting = new Promise<Start>((resolve) => {
    begin = resolve;
  }).then(start);
  starting.then(
    ({ url, variables, inside }) => {
      tell({ kind: 'ready', url, variables: { ...variables }, inside: [...inside] });
    },
    (error: unknown) => {
      const message = error instanceof StageError ? error.message : inspect(error);
      process.send?.({ kind: 'failed', message } satisfies ToPrimary, () => process.exit(1));
    },
  );

  process.on('message', (received, connection) => {
    const message = toMember.parse(received);
    if (message.kind === 'connection') {
      tell({ kind: 'taken', id: message.id });
      // The client may have closed the connection.
      if (connection instanceof Socket) {
        void fronts.then((take) => {
          take(message.front, connection);
        });
      }
      return;
    }
    if (message.kind === 'start') begin(message);
    else starting.then((stage) => act(message, stage)).catch(report);
  });
  tell({ kind: 'listening' });
}

function sum(one: ParkedJobs, another: ParkedJobs): ParkedJobs {
  const counts = (of: keyof ParkedJobs) => ({
    sent: one[of].sent + another[of].sent,
    left: one[of].left + another[of].left,
    since: one[of].since + another[of].since,
  });
  return { parked: counts('parked'), fires: counts('fires') };
}
