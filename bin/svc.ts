import { App } from 'aws-cdk-lib';
import { readSettings, SettingsError } from '../lib/settings.ts';
import { SvcQueue } from '../lib/svcQueue.ts';

try {
  const app = new App();
  // The CLI sets the variable if it has credentials. Synthesis needs none.
  new SvcQueue(app, 'Queue', { ...readSettings(app), awsAccount: process.env['CDK_DEFAULT_ACCOUNT'] });
} catch (error) {
  // The operator needs no stack to fix a setting.
  if (!(error instanceof SettingsError)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
