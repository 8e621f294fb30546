/**
 * `svc-queue verify`: checks a deployment by using it; with `--before`, whether a deployment can succeed; with `--bill`, AWS's
 * bill against the forecast.
 */
import { setMaxListeners } from 'node:events';
import { OperateError } from '../../operate/operateError.ts';
import { runCommand } from '../runCommand.ts';
import { verifyAfter } from '../../verify/after/after.ts';
import { afterChecks } from '../../verify/after/checks.ts';
import { beforeChecks } from '../../verify/before/checks.ts';
import { openAccount } from '../../verify/before/account.ts';
import { verifyBefore } from '../../verify/before/before.ts';
import { verifyBill } from '../../verify/bill/bill.ts';
import { isGood, type Outcome } from '../../verify/check.ts';
import { type Deployment, readDeployment } from '../../verify/deployment.ts';
import { parseVerify, type VerifyOptions } from '../../verify/options.ts';
import { jsonOf, tableOf } from '../../verify/table.ts';

const names = (checks: readonly { readonly name: string }[]): readonly string[] =>
  checks.map(({ name }) => name);

/** The first Ctrl-C ends the run, which then cleans up. The second ends the process. */
function interruption(): AbortSignal {
  const controller = new AbortController();
  // All checks of a run wait at the same time.
  setMaxListeners(0, controller.signal);
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      if (controller.signal.aborted) process.exit(1);
      console.error('Ending: removing what this run made. After a second Ctrl-C, the next run does this.');
      controller.abort(new OperateError('The run was interrupted.'));
    });
  }
  return controller.signal;
}

/** @throws OperateError for a region that the deployment does not have */
function regionsOf(asked: readonly string[], { settings }: Deployment): readonly string[] {
  const unknown = asked.filter((region) => !settings.regions.includes(region));
  if (unknown.length > 0)
    throw new OperateError(
      `The settings have no region ${unknown.join(', ')}; they have ${settings.regions.join(', ')}.`,
    );
  return asked.length > 0 ? asked : settings.regions;
}

function outcomesOf(options: VerifyOptions): Promise<readonly Outcome[]> {
  const { context, isBefore, isSlow, only, bill, release, waitSeconds } = options;
  const deployment = readDeployment(context);
  const regions = regionsOf(options.regions, deployment);
  if (bill !== undefined) return verifyBill({ deployment, regions, day: bill });
  const asked = {
    deployment,
    regions,
    only,
    isEmulator: process.env['AWS_ENDPOINT_URL'] !== undefined,
    signal: interruption(),
  };
  if (isBefore) return verifyBefore({ ...asked, open: openAccount });
  return verifyAfter({
    ...asked,
    isSlow,
    release,
    waitMs: waitSeconds * 1_000,
    front: process.env['SVC_VERIFY_FRONT'],
    say: console.error,
  });
}

export function run(args: readonly string[]): Promise<void> {
  const options = parseVerify(args, { before: names(beforeChecks), after: names(afterChecks) });
  return runCommand(async () => {
    process.env['AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED'] = 'true';
    const outcomes = await outcomesOf(options);
    console.log(options.isJson ? jsonOf(outcomes) : tableOf(outcomes));
    return isGood(outcomes) ? 0 : 1;
  });
}
