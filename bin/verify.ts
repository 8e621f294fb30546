/** `npm run verify`: proves a deployment by using it; with `--before`, reads what would keep one from succeeding. */
import { runCommand } from '../operate/runCommand.ts';
import { beforeChecks } from '../verify/before/checks.ts';
import { openAccount } from '../verify/before/account.ts';
import { verifyBefore } from '../verify/before/before.ts';
import { isGood } from '../verify/check.ts';
import { readDeployment } from '../verify/deployment.ts';
import { parseVerify } from '../verify/options.ts';
import { jsonOf, tableOf } from '../verify/table.ts';
import { argumentsOf } from './commandLine.ts';

const names = (checks: readonly { readonly name: string }[]): readonly string[] =>
  checks.map(({ name }) => name);

const options = argumentsOf((args) => parseVerify(args, { before: names(beforeChecks), after: [] }));
await runCommand(async () => {
  process.env['AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED'] = 'true';
  const { context, isJson, only } = options;
  const deployment = readDeployment(context);
  const regions = options.regions.length > 0 ? options.regions : deployment.settings.regions;
  const isEmulator = process.env['AWS_ENDPOINT_URL'] !== undefined;
  const outcomes = await verifyBefore({ deployment, regions, only, isEmulator, open: openAccount });
  console.log(isJson ? jsonOf(outcomes) : tableOf(outcomes));
  return isGood(outcomes) ? 0 : 1;
}, console.error);
