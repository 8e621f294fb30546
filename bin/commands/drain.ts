/** `svc-queue drain`: empties a region before it is given up. */
import { drain } from '../../operate/drain.ts';
import { takeEnvironment } from '../../operate/environment.ts';
import { parseDrain } from '../../operate/options.ts';
import { runCommand } from '../runCommand.ts';

const print = (line: string): void => {
  console.log(line);
};

export function run(args: readonly string[]): Promise<void> {
  const options = parseDrain(args);
  return runCommand(async () => {
    await takeEnvironment(options);
    const region = await import('../../lambdas/recovery/drain.ts');
    if (options.undo) {
      print(`${await region.setDraining(false)} accounts take new messages again.`);
      return 0;
    }
    const { everySeconds, once } = options;
    return (await drain(region, { everyMs: everySeconds * 1_000, once }, print)) ? 0 : 1;
  });
}
