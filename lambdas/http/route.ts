import type { AuditAction } from '../wire/auditActions.ts';
import { bulkOperations, type BulkOperation } from '../wire/bulkAnswers.ts';

/** Each function is a Lambda, with a file of its name in `handlers/`. */
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
 * The credentials that a route requires. `write`: the account's token, to change something or to see redacted
 * values. `read`: that token or the read-only one. `management`: the management API's credentials. `open`:
 * none.
 */
export type Access = 'write' | 'read' | 'management' | 'open';

interface Rules {
  readonly access: Access;
  /** Whether named tokens of the scope `publish` are also accepted. */
  readonly publishes?: true;
  /**
   * The name of a lasting change in the audit trail. A test requires a reason for each change without a name.
   */
  readonly audit?: AuditAction;
}

type Method = 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/**
 * Routes by method and path. In a path, `{name}` is one segment. `{name+}`, always last, is the rest,
 * including slashes.
 */
export type RouteTable = Readonly<Record<`${Method} /${string}`, Rules>>;

export interface Route extends Rules {
  /** The method and the path. */
  readonly name: string;
  readonly method: string;
  readonly path: string;
  readonly function: ApiFunction;
}

export const routesIn = (of: ApiFunction, table: RouteTable): readonly Route[] =>
  Object.entries(table).map(([name, rules]) => {
    const [method = '', path = ''] = name.split(' ');
    return { name, method, path, function: of, ...rules };
  });

/** The operation on many entries that a route can run in the background, by its name in the audit trail. */
export const bulkOperationOf = ({ path, audit }: Pick<Route, 'path' | 'audit'>): BulkOperation | undefined =>
  path.includes('{') ? undefined : bulkOperations.find((one) => one === audit);
