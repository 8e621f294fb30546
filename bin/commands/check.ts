/** `svc-queue check`: checks a stage's data for damage. */
import { check } from '../../local/check/check.ts';
import { parseCheckOptions } from '../../local/check/options.ts';
import { runOnStage } from '../runOnStage.ts';

export function run(args: readonly string[]): Promise<void> {
  const { dataDirectory } = parseCheckOptions(args, process.env);
  return runOnStage(async () => {
    const { counts, problems } = await check(dataDirectory);
    for (const [what, number] of Object.entries(counts)) console.log(`${number} ${what}`);
    for (const problem of problems) console.error(problem);
    if (problems.length > 0) process.exitCode = 1;
    else console.log(`${dataDirectory} is whole.`);
  });
}
