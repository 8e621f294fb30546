/** The handlers' environment variables, with values for this machine. */
import { devNull } from 'node:os';

export type Environment = Readonly<Record<string, string>>;

/** The credentials of the stage's AWS clients. They are never checked, and must not be real. */
const credentials = { accessKeyId: 'local', secretAccessKey: 'local' };

/**
 * The developer's own SQS endpoint for destinations, if given. It is read before the stage sets the variable to its own queues.
 */
export const developersSqs = process.env['AWS_ENDPOINT_URL_SQS'] ?? '';

/** The developer's AWS settings, which would direct clients away from the stand-ins. */
const cleared = [
  'AWS_PROFILE',
  'AWS_SESSION_TOKEN',
  'AWS_ENDPOINT_URL',
  'AWS_IGNORE_CONFIGURED_ENDPOINT_URLS',
];

/** Variables of every function. The developer's settings for log and metrics have priority. */
const common = (): Environment => ({
  AWS_ACCESS_KEY_ID: credentials.accessKeyId,
  AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
  AWS_CONFIG_FILE: devNull,
  AWS_SHARED_CREDENTIALS_FILE: devNull,
  AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: 'true',
  POWERTOOLS_SERVICE_NAME: 'svc',
  POWERTOOLS_METRICS_NAMESPACE: 'Svc',
  // Metrics are lines in the log, and nothing collects them here.
  POWERTOOLS_METRICS_DISABLED: process.env['POWERTOOLS_METRICS_DISABLED'] ?? 'true',
  POWERTOOLS_LOG_LEVEL: process.env['POWERTOOLS_LOG_LEVEL'] ?? 'WARN',
});

/** Removes the developer's AWS settings from this process. Call it before the first AWS client is made. */
export function isolate(): void {
  for (const name of cleared) Reflect.deleteProperty(process.env, name);
  setVariables(common());
  // The stand-ins share the process with their clients, so both are slow on a busy machine.
  process.env['CLIENT_PATIENCE'] ??= '20';
}

export function setVariables(variables: Environment): void {
  Object.assign(process.env, variables);
}
