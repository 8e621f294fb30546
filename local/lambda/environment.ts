/** The environment variables that AWS gives the handlers, with values for this machine. */
import { devNull } from 'node:os';

export type Environment = Readonly<Record<string, string>>;

/** The credentials of every AWS client of the stage. Nothing checks them; real ones must not be used. */
export const credentials = { accessKeyId: 'local', secretAccessKey: 'local' };

/**
 * The address of the SQS whose queues messages may go to, if the developer has given one. A stage gives the variable the address of its
 * own queues, so it is read before.
 */
export const developersSqs = process.env['AWS_ENDPOINT_URL_SQS'] ?? '';

/** The developer's own AWS settings, which would lead the clients away from the stand-ins. */
const cleared = [
  'AWS_PROFILE',
  'AWS_SESSION_TOKEN',
  'AWS_ENDPOINT_URL',
  'AWS_IGNORE_CONFIGURED_ENDPOINT_URLS',
];

/** Variables of every function. The developer's own settings of the log and the metrics stay. */
const common = (): Environment => ({
  AWS_ACCESS_KEY_ID: credentials.accessKeyId,
  AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
  AWS_CONFIG_FILE: devNull,
  AWS_SHARED_CREDENTIALS_FILE: devNull,
  AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: 'true',
  POWERTOOLS_SERVICE_NAME: 'svc',
  POWERTOOLS_METRICS_NAMESPACE: 'Svc',
  // Metrics are lines of the log, and nothing collects them here.
  POWERTOOLS_METRICS_DISABLED: process.env['POWERTOOLS_METRICS_DISABLED'] ?? 'true',
  // The terminal shows what goes wrong, and not each delivery that succeeds.
  POWERTOOLS_LOG_LEVEL: process.env['POWERTOOLS_LOG_LEVEL'] ?? 'WARN',
});

/** Shields the process from the developer's AWS settings. Call it before the first AWS client is made. */
export function isolate(): void {
  for (const name of cleared) Reflect.deleteProperty(process.env, name);
  setVariables(common());
  // The stand-ins share this process with their clients: on a busy machine both are slow.
  process.env['CLIENT_PATIENCE'] ??= '20';
}

export function setVariables(variables: Environment): void {
  Object.assign(process.env, variables);
}
