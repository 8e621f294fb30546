/** The CDK app, which `cdk synth`, `cdk deploy` and `cdk destroy` run. */
import { App } from 'aws-cdk-lib';
import { readSettings, SettingsError } from '../lib/settings.ts';
import { SvcQueue } from '../lib/svcQueue.ts';

try {
  const app = new App();
  // The CLI sets the variable when it has credentials; synthesis needs none.
  new SvcQueue(app, 'Queue', { ...readSettings(app), awsAccount: process.env['CDK_DEFAULT_ACCOUNT'] });
} catch (error) {
  // The operator corrects a setting, and does not need a stack for it.
  if (!(error instanceof SettingsError)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
