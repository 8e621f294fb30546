/** The CDK app, which `cdk synth`, `cdk deploy` and `cdk destroy` run. */
import { App } from 'aws-cdk-lib';
import { Code } from 'aws-cdk-lib/aws-lambda';
import { bundle } from '../lib/bundle.ts';
import { makeStacks } from '../lib/stacks.ts';
import { readSettings, SettingsError } from '../lib/settings.ts';

const bundles = new Map<string, string>();

function main(): void {
  const app = new App();
  const settings = readSettings(app);
  makeStacks(app, {
    settings,
    // The CLI sets it when it has credentials; synthesis needs none.
    account: process.env['CDK_DEFAULT_ACCOUNT'],
    codeOf: (handler) => {
      const folder = bundles.get(handler) ?? bundle(handler);
      bundles.set(handler, folder);
      return Code.fromAsset(folder);
    },
  });
}

try {
  main();
} catch (error) {
  // The operator corrects a setting, and does not need a stack for it.
  if (!(error instanceof SettingsError)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
