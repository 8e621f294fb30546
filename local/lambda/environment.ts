/** The handlers' environment variables, with values for this machine. */
import { devNull } from 'node:os';

export type Environment = Readonly<Record<string, string>>;

/** The credentials of the stage's AWS clients. They are never checked, and must not be real. */
const credentials = { accessKeyId: 'local', secretAccessKey: 'local' };

/**
 * The developer's own SQS endpoint for destinations, if set. It is read before the stage overwrites the
 * variable.
 */
export const developersSqs = process.env['AWS_ENDPOINT_URL_SQS'] ?? '';

/** AWS settings of the developer, which would make clients call other services than the stand-ins. */
const cleared = [
  'AWS_PROFILE',
  'AWS_SESSION_TOKEN',
  'AWS_ENDPOINT_URL',
  'AWS_IGNORE_CONFIGURED_ENDPOINT_URLS',
];

/** Variables of all functions. The developer's own settings for logs and metrics take precedence. */
const common = (): Environment => ({
  AWS_ACCESS_KEY_ID: credentials.accessKeyId,
  AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
  AWS_CONFIG_FILE: devNull,
  AWS_SHARED_CREDENTIALS_FILE: devNull,
  AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: 'true',
  POWERTOOLS_SERVICE_NAME: 'svc',
  POWERTOOLS_METRICS_NAMESPACE: 'Svc',
  // Nothing collects metrics here.
  POWERTOOLS_METRICS_DISABLED: process.env['POWERTOOLS_METRICS_DISABLED'] ?? 'true',
  POWERTOOLS_LOG_LEVEL: process.env['POWERTOOLS_LOG_LEVEL'] ?? 'WARN',
});

/**
 * Removes the developer's AWS settings from this process. Must be called before the first AWS client is made.
 */
export function isolate(): void {
  for (const name of cleared) Reflect.deleteProperty(process.env, name);
  setVariables(common());
  // On a busy machine calls are slow, because stand-ins and clients share the process.
  process.env['CLIENT_PATIENCE'] ??= '20';
}

export function setVariables(variables: Environment): void {
  Object.assign(process.env, variables);
}
