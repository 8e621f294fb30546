import type { AuditAction } from '../wire/auditActions.ts';
import { bulkOperations, type BulkOperation } from '../wire/bulkAnswers.ts';

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

interface Rules {
  readonly access: Access;
  /** Whether a named token of the scope `publish` is accepted, too. */
  readonly publishes?: true;
  /** The audit trail's name for a lasting change. A test requires a reason for every change without one. */
  readonly audit?: AuditAction;
}

type Method = 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** By method and path. In a path, `{name}` is one segment. `{name+}`, always last, is the rest, including slashes. */
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
