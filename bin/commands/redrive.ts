/** `svc-queue redrive`: sends parked messages and undelivered fires back. */
import { takeEnvironment } from '../../operate/environment.ts';
import { parseRedrive } from '../../operate/options.ts';
import { runCommand } from '../../operate/runCommand.ts';

/** The time limit, long enough for any queue. */
const longestMs = 3_600_000;

export function run(args: readonly string[]): Promise<void> {
  const options = parseRedrive(args);
  return runCommand(async () => {
    await takeEnvironment(options);
    const { redriveFires, redriveParked } = await import('../../lambdas/recovery/redrive.ts');
    const until = Date.now() + longestMs;
    const parked = await redriveParked({ isWanted: () => true, until });
    const fires = await redriveFires(until);
    console.log(`Sent back: parked messages ${parked.sent}, undelivered fires ${fires.sent}.`);
    if (parked.since > 0)
      console.log(`Parked after the start, most of them again, and not sent back: ${parked.since}.`);
    const left = parked.left + fires.left;
    if (left === 0) return 0;
    console.error(`Could not be sent back, and stay parked: ${left}. The errors above name them.`);
    return 1;
  }, console.error);
}
