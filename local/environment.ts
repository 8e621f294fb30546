/** The environment that the handlers find: what AWS and the CDK app give them, turned to the stand-ins. */
import { devNull } from 'node:os';

export type Environment = Readonly<Record<string, string>>;

/** For every AWS client of the stage: nothing checks them, and real ones must not reach it. */
export const credentials = { accessKeyId: 'local', secretAccessKey: 'local' };

/** What the developer's own AWS settings must not change. */
const cleared = [
  'AWS_PROFILE',
  'AWS_SESSION_TOKEN',
  'AWS_ENDPOINT_URL',
  'AWS_IGNORE_CONFIGURED_ENDPOINT_URLS',
];

const common: Environment = {
  AWS_ACCESS_KEY_ID: credentials.accessKeyId,
  AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
  AWS_CONFIG_FILE: devNull,
  AWS_SHARED_CREDENTIALS_FILE: devNull,
  AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: 'true',
  POWERTOOLS_SERVICE_NAME: 'svc',
  POWERTOOLS_METRICS_NAMESPACE: 'Svc',
  // Nobody collects them here; they would only be lines between the others.
  POWERTOOLS_METRICS_DISABLED: process.env['POWERTOOLS_METRICS_DISABLED'] ?? 'true',
  // Whoever watches the terminal wants to see what goes wrong, not each delivery that goes well.
  POWERTOOLS_LOG_LEVEL: process.env['POWERTOOLS_LOG_LEVEL'] ?? 'WARN',
};

/** To be called before the first AWS client is made. */
export function isolate(): void {
  for (const name of cleared) Reflect.deleteProperty(process.env, name);
  setVariables(common);
}

export function setVariables(variables: Environment): void {
  Object.assign(process.env, variables);
}
