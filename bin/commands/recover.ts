/** `svc-queue recover`: sends jobs again after tables were restored, or queues or schedules were lost. */
import { takeEnvironment } from '../../operate/environment.ts';
import { parseRecover } from '../../operate/options.ts';
import { runCommand } from '../runCommand.ts';

export function run(args: readonly string[]): Promise<void> {
  const options = parseRecover(args, Date.now());
  return runCommand(async () => {
    await takeEnvironment(options);
    const { longestWorkMs, recover } = await import('../../lambdas/recovery/recover.ts');
    const { restoredTo, isDryRun } = options;
    const made = await recover({ since: restoredTo - longestWorkMs, isDryRun });
    console.log(
      `${isDryRun ? 'Would be recreated' : 'Recreated'}: attempts ${made.attempts}, looks at records ${made.followUps}, ` +
        `looks at lanes ${made.pumps}, schedules ${made.schedules}, deadlines of waits ${made.waits}. ` +
        `Attempts that stay in their lines: ${made.waiting}.`,
    );
    if (made.skippedRuns > 0) {
      console.error(`Runs that could not be recovered: ${made.skippedRuns}; the errors above name them.`);
      return 1;
    }
    return 0;
  });
}
