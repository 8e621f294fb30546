/** Each function is one Lambda, and the file of that name in `handlers/`. */
export type MessagingFunction =
  | 'publish'
  | 'messages'
  | 'logs'
  | 'urlGroups'
  | 'queues'
  | 'flowControl'
  | 'dlq'
  | 'schedules'
  | 'workflows'
  | 'keys'
  | 'alarms'
  | 'stats'
  | 'description'
  | 'console';
export type ManagementFunction = 'accounts';
export type ApiFunction = MessagingFunction | ManagementFunction;

/**
 * The credentials that a route needs. `write`: the account's token, to change something or to see redacted values. `read`: that
 * token or the read-only one. `management`: the management API's credentials. `open`: none.
 */
export type Access = 'write' | 'read' | 'management' | 'open';

export interface Route {
  readonly method: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** `{name}` is one segment. `{name+}`, always last, is the rest of the path, including slashes. */
  readonly path: string;
  readonly function: ApiFunction;
  readonly access: Access;
  /** Whether a named token of the scope `publish` is accepted, too. */
  readonly publishes?: true;
}
