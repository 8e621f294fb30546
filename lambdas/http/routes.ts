/**
 * The route table: the one list of what the API answers. The CDK app makes the gateway's resources from it,
 * the local stage its router, and the handlers read from it who may call them.
 */

/** Each function is one Lambda, and one file of the same name in `handlers/`. */
export type ApiFunction = 'publish' | 'messages' | 'logs' | 'topics' | 'dlq' | 'description';

/** What a caller must show: `write` the account's token, `read` that or the read-only token, `open` nothing. */
export type Access = 'write' | 'read' | 'open';

export interface Route {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** `{name}` is one segment; `{name+}`, always last, is the whole rest of the path, slashes included. */
  readonly path: string;
  readonly function: ApiFunction;
  readonly access: Access;
}

export const routes = [
  { method: 'POST', path: '/v2/publish/{destination+}', function: 'publish', access: 'write' },
  { method: 'POST', path: '/v2/enqueue/{queueName}/{destination+}', function: 'publish', access: 'write' },
  { method: 'POST', path: '/v2/batch', function: 'publish', access: 'write' },

  { method: 'GET', path: '/v2/messages/{messageId}', function: 'messages', access: 'read' },
  { method: 'DELETE', path: '/v2/messages/{messageId}', function: 'messages', access: 'write' },
  { method: 'DELETE', path: '/v2/messages', function: 'messages', access: 'write' },

  { method: 'GET', path: '/v2/logs', function: 'logs', access: 'read' },
  { method: 'GET', path: '/v2/events', function: 'logs', access: 'read' },

  { method: 'GET', path: '/v2/topics', function: 'topics', access: 'read' },
  { method: 'GET', path: '/v2/topics/{name}', function: 'topics', access: 'read' },
  { method: 'PATCH', path: '/v2/topics/{name}', function: 'topics', access: 'write' },
  { method: 'DELETE', path: '/v2/topics/{name}', function: 'topics', access: 'write' },
  { method: 'POST', path: '/v2/topics/{name}/endpoints', function: 'topics', access: 'write' },
  { method: 'DELETE', path: '/v2/topics/{name}/endpoints', function: 'topics', access: 'write' },

  { method: 'GET', path: '/v2/dlq', function: 'dlq', access: 'read' },
  { method: 'DELETE', path: '/v2/dlq', function: 'dlq', access: 'write' },
  { method: 'POST', path: '/v2/dlq/retry', function: 'dlq', access: 'write' },
  { method: 'POST', path: '/v2/dlq/retry/{dlqId}', function: 'dlq', access: 'write' },
  { method: 'GET', path: '/v2/dlq/{dlqId}', function: 'dlq', access: 'read' },
  { method: 'DELETE', path: '/v2/dlq/{dlqId}', function: 'dlq', access: 'write' },

  { method: 'GET', path: '/v2/health', function: 'description', access: 'open' },
  { method: 'GET', path: '/v2/openapi.json', function: 'description', access: 'open' },
] as const satisfies readonly Route[];
