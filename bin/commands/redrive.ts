/** `svc-queue redrive`: sends parked messages and undelivered fires back. */
import { takeEnvironment } from '../../operate/environment.ts';
import { parseRedrive, type RedriveCommand } from '../../operate/options.ts';
import { runCommand } from '../runCommand.ts';
import { runOnStage } from '../runOnStage.ts';

/** The time limit, long enough for any queue. */
const longestMs = 3_600_000;

async function redrive({ deployment, dataDirectory }: RedriveCommand) {
  if (deployment === undefined)
    return (await import('../../local/backup/control.ts')).askForRedrive(dataDirectory);
  await takeEnvironment(deployment);
  return (await import('../../lambdas/recovery/redrive.ts')).redriveAll(Date.now() + longestMs);
}

export function run(args: readonly string[]): Promise<void> {
  const options = parseRedrive(args, process.env);
  const work = async (): Promise<number> => {
    const { parked, fires } = await redrive(options);
    console.log(`Sent back: parked messages ${parked.sent}, undelivered fires ${fires.sent}.`);
    if (parked.since > 0)
      console.log(`Parked after the start, most of them again, and not sent back: ${parked.since}.`);
    const left = parked.left + fires.left;
    if (left === 0) return 0;
    console.error(`Could not be sent back, and stay parked: ${left}. The errors above name them.`);
    return 1;
  };
  if (options.deployment !== undefined) return runCommand(work);
  return runOnStage(async () => {
    process.exitCode = await work();
  });
}
