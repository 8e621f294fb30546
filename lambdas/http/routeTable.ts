/**
 * The routes of each function; `routes.ts` combines them. A function's bundle has only its own routes: the whole table is 7 KB,
 * and a cold start compiles a regular expression for each path.
 */
import type { Route } from './route.ts';

export const publishRoutes = [
  {
    method: 'POST',
    path: '/v2/publish/{destination+}',
    function: 'publish',
    access: 'write',
    publishes: true,
  },
  {
    method: 'POST',
    path: '/v2/enqueue/{queueName}/{destination+}',
    function: 'publish',
    access: 'write',
    publishes: true,
  },
  { method: 'POST', path: '/v2/batch', function: 'publish', access: 'write', publishes: true },
  // A workflow client's publish or batch also starts runs, so this function has the rights and the memory anyway.
  {
    method: 'POST',
    path: '/v2/trigger/{destination+}',
    function: 'publish',
    access: 'write',
    publishes: true,
  },
  { method: 'POST', path: '/v2/batch/trigger', function: 'publish', access: 'write', publishes: true },
] as const satisfies readonly Route[];

export const messagesRoutes = [
  { method: 'GET', path: '/v2/messages', function: 'messages', access: 'read' },
  { method: 'GET', path: '/v2/messages/count', function: 'messages', access: 'read' },
  { method: 'GET', path: '/v2/messages/{messageId}', function: 'messages', access: 'read' },
  { method: 'DELETE', path: '/v2/messages/{messageId}', function: 'messages', access: 'write' },
  { method: 'PATCH', path: '/v2/messages/{messageId}', function: 'messages', access: 'write' },
  { method: 'POST', path: '/v2/messages/{messageId}/publish', function: 'messages', access: 'write' },
  { method: 'DELETE', path: '/v2/messages', function: 'messages', access: 'write' },
  { method: 'POST', path: '/v2/messages/{messageId}/complete', function: 'messages', access: 'write' },
  // The destination has no token. The URL is valid for one attempt.
  { method: 'POST', path: '/v2/complete/{completion}', function: 'messages', access: 'open' },
] as const satisfies readonly Route[];

export const logsRoutes = [
  { method: 'GET', path: '/v2/logs', function: 'logs', access: 'read' },
  { method: 'GET', path: '/v2/events', function: 'logs', access: 'read' },
] as const satisfies readonly Route[];

export const urlGroupsRoutes = [
  { method: 'GET', path: '/v2/topics', function: 'urlGroups', access: 'read' },
  { method: 'GET', path: '/v2/topics/{name}', function: 'urlGroups', access: 'read' },
  { method: 'PATCH', path: '/v2/topics/{name}', function: 'urlGroups', access: 'write' },
  { method: 'DELETE', path: '/v2/topics/{name}', function: 'urlGroups', access: 'write' },
  { method: 'POST', path: '/v2/topics/{name}/endpoints', function: 'urlGroups', access: 'write' },
  { method: 'DELETE', path: '/v2/topics/{name}/endpoints', function: 'urlGroups', access: 'write' },
  {
    method: 'POST',
    path: '/v2/topics/{name}/endpoints/rotate-signature',
    function: 'urlGroups',
    access: 'write',
  },
  {
    method: 'DELETE',
    path: '/v2/topics/{name}/endpoints/rotate-signature',
    function: 'urlGroups',
    access: 'write',
  },
] as const satisfies readonly Route[];

export const queuesRoutes = [
  { method: 'POST', path: '/v2/queues', function: 'queues', access: 'write' },
  { method: 'GET', path: '/v2/queues', function: 'queues', access: 'read' },
  { method: 'GET', path: '/v2/queues/{name}', function: 'queues', access: 'read' },
  { method: 'DELETE', path: '/v2/queues/{name}', function: 'queues', access: 'write' },
  {
    method: 'POST',
    path: '/v2/queues/{name}/pause',
    function: 'queues',
    access: 'write',
  },
  {
    method: 'POST',
    path: '/v2/queues/{name}/resume',
    function: 'queues',
    access: 'write',
  },
] as const satisfies readonly Route[];

export const flowControlRoutes = [
  { method: 'GET', path: '/v2/flowControl', function: 'flowControl', access: 'read' },
  { method: 'GET', path: '/v2/flowControl/{key}', function: 'flowControl', access: 'read' },
  {
    method: 'POST',
    path: '/v2/flowControl/{key}/pause',
    function: 'flowControl',
    access: 'write',
  },
  {
    method: 'POST',
    path: '/v2/flowControl/{key}/resume',
    function: 'flowControl',
    access: 'write',
  },
  {
    method: 'POST',
    path: '/v2/flowControl/{key}/pin',
    function: 'flowControl',
    access: 'write',
  },
  {
    method: 'POST',
    path: '/v2/flowControl/{key}/unpin',
    function: 'flowControl',
    access: 'write',
  },
  {
    method: 'POST',
    path: '/v2/flowControl/{key}/resetRate',
    function: 'flowControl',
    access: 'write',
  },
  // Published clients use this name.
  {
    method: 'POST',
    path: '/v2/flowControl/{key}/reset',
    function: 'flowControl',
    access: 'write',
  },
  { method: 'GET', path: '/v2/globalParallelism', function: 'flowControl', access: 'read' },
  { method: 'GET', path: '/v2/circuits', function: 'flowControl', access: 'read' },
  {
    method: 'POST',
    path: '/v2/circuits/{host}/close',
    function: 'flowControl',
    access: 'write',
  },
] as const satisfies readonly Route[];

export const dlqRoutes = [
  { method: 'GET', path: '/v2/dlq', function: 'dlq', access: 'read' },
  { method: 'GET', path: '/v2/dlq/count', function: 'dlq', access: 'read' },
  { method: 'DELETE', path: '/v2/dlq', function: 'dlq', access: 'write' },
  { method: 'POST', path: '/v2/dlq/retry', function: 'dlq', access: 'write' },
  { method: 'POST', path: '/v2/dlq/retry/{dlqId}', function: 'dlq', access: 'write' },
  { method: 'GET', path: '/v2/dlq/{dlqId}', function: 'dlq', access: 'read' },
  { method: 'DELETE', path: '/v2/dlq/{dlqId}', function: 'dlq', access: 'write' },
] as const satisfies readonly Route[];

export const schedulesRoutes = [
  {
    method: 'POST',
    path: '/v2/schedules/{schedule+}',
    function: 'schedules',
    access: 'write',
  },
  { method: 'GET', path: '/v2/schedules', function: 'schedules', access: 'read' },
  { method: 'GET', path: '/v2/schedules/{schedule}', function: 'schedules', access: 'read' },
  { method: 'GET', path: '/v2/schedules/{schedule}/fires', function: 'schedules', access: 'read' },
  { method: 'GET', path: '/v2/schedules/{schedule}/next', function: 'schedules', access: 'read' },
  { method: 'PATCH', path: '/v2/schedules/{schedule}', function: 'schedules', access: 'write' },
  { method: 'DELETE', path: '/v2/schedules/{schedule}', function: 'schedules', access: 'write' },
  { method: 'POST', path: '/v2/schedules/{schedule}/run', function: 'schedules', access: 'write' },
  {
    method: 'POST',
    path: '/v2/schedules/{schedule}/pause',
    function: 'schedules',
    access: 'write',
  },
  {
    method: 'PATCH',
    path: '/v2/schedules/{schedule}/pause',
    function: 'schedules',
    access: 'write',
  },
  {
    method: 'POST',
    path: '/v2/schedules/{schedule}/resume',
    function: 'schedules',
    access: 'write',
  },
  {
    method: 'PATCH',
    path: '/v2/schedules/{schedule}/resume',
    function: 'schedules',
    access: 'write',
  },
  { method: 'GET', path: '/v2/cron', function: 'schedules', access: 'read' },
] as const satisfies readonly Route[];

export const workflowsRoutes = [
  { method: 'GET', path: '/v2/workflows/runs/count', function: 'workflows', access: 'read' },
  // The answer shows even redacted payloads, because endpoints need them.
  { method: 'GET', path: '/v2/workflows/runs/{runId}', function: 'workflows', access: 'write' },
  { method: 'DELETE', path: '/v2/workflows/runs/{runId}', function: 'workflows', access: 'write' },
  { method: 'POST', path: '/v2/workflows/runs/{runId}/resume', function: 'workflows', access: 'write' },
  { method: 'POST', path: '/v2/workflows/runs/{runId}/restart', function: 'workflows', access: 'write' },
  {
    method: 'DELETE',
    path: '/v2/workflows/runs',
    function: 'workflows',
    access: 'write',
  },
  { method: 'GET', path: '/v2/workflows/logs', function: 'workflows', access: 'read' },
  { method: 'GET', path: '/v2/workflows/events', function: 'workflows', access: 'read' },
  // An event's id may have slashes, which the published client does not encode.
  { method: 'POST', path: '/v2/wait/{eventId+}', function: 'workflows', access: 'write' },
  { method: 'POST', path: '/v2/notify/{event+}', function: 'workflows', access: 'write', publishes: true },
  { method: 'GET', path: '/v2/waiters/{eventId+}', function: 'workflows', access: 'read' },
  // Anyone who knows a webhook's URL may call it, with any method.
  {
    method: 'GET',
    path: '/v2/workflows/hooks/{account}/{runId}/{eventId}',
    function: 'workflows',
    access: 'open',
  },
  {
    method: 'HEAD',
    path: '/v2/workflows/hooks/{account}/{runId}/{eventId}',
    function: 'workflows',
    access: 'open',
  },
  {
    method: 'POST',
    path: '/v2/workflows/hooks/{account}/{runId}/{eventId}',
    function: 'workflows',
    access: 'open',
  },
  {
    method: 'PUT',
    path: '/v2/workflows/hooks/{account}/{runId}/{eventId}',
    function: 'workflows',
    access: 'open',
  },
  {
    method: 'PATCH',
    path: '/v2/workflows/hooks/{account}/{runId}/{eventId}',
    function: 'workflows',
    access: 'open',
  },
  {
    method: 'DELETE',
    path: '/v2/workflows/hooks/{account}/{runId}/{eventId}',
    function: 'workflows',
    access: 'open',
  },
  { method: 'GET', path: '/v2/workflows/dlq', function: 'workflows', access: 'read' },
  { method: 'GET', path: '/v2/workflows/dlq/count', function: 'workflows', access: 'read' },
  {
    method: 'DELETE',
    path: '/v2/workflows/dlq',
    function: 'workflows',
    access: 'write',
  },
  { method: 'GET', path: '/v2/workflows/dlq/{dlqId}', function: 'workflows', access: 'read' },
  { method: 'DELETE', path: '/v2/workflows/dlq/{dlqId}', function: 'workflows', access: 'write' },
  {
    method: 'POST',
    path: '/v2/workflows/dlq/resume',
    function: 'workflows',
    access: 'write',
  },
  { method: 'POST', path: '/v2/workflows/dlq/resume/{dlqId}', function: 'workflows', access: 'write' },
  {
    method: 'POST',
    path: '/v2/workflows/dlq/restart',
    function: 'workflows',
    access: 'write',
  },
  { method: 'POST', path: '/v2/workflows/dlq/restart/{dlqId}', function: 'workflows', access: 'write' },
  { method: 'POST', path: '/v2/workflows/dlq/callback/{dlqId}', function: 'workflows', access: 'write' },
  { method: 'DELETE', path: '/v2/workflows/dlq/callback/{dlqId}', function: 'workflows', access: 'write' },
] as const satisfies readonly Route[];

export const keysRoutes = [
  { method: 'GET', path: '/v2/keys', function: 'keys', access: 'read' },
  { method: 'POST', path: '/v2/keys/rotate', function: 'keys', access: 'write' },
  { method: 'POST', path: '/v2/rotate', function: 'keys', access: 'write' },
  { method: 'GET', path: '/v2/tokens', function: 'keys', access: 'read' },
  { method: 'POST', path: '/v2/tokens', function: 'keys', access: 'write' },
  { method: 'DELETE', path: '/v2/tokens/{tokenId}', function: 'keys', access: 'write' },
] as const satisfies readonly Route[];

export const alarmsRoutes = [
  { method: 'GET', path: '/v2/alarms', function: 'alarms', access: 'read' },
  { method: 'PUT', path: '/v2/alarms', function: 'alarms', access: 'write' },
  { method: 'DELETE', path: '/v2/alarms', function: 'alarms', access: 'write' },
  { method: 'POST', path: '/v2/alarms/test', function: 'alarms', access: 'write' },
] as const satisfies readonly Route[];

export const statsRoutes = [
  { method: 'GET', path: '/v2/stats', function: 'stats', access: 'read' },
  { method: 'GET', path: '/v2/stats/attention', function: 'stats', access: 'read' },
  { method: 'GET', path: '/v2/stats/hosts', function: 'stats', access: 'read' },
  { method: 'GET', path: '/v2/stats/lanes', function: 'stats', access: 'read' },
  { method: 'GET', path: '/v2/metrics', function: 'stats', access: 'read' },
  { method: 'GET', path: '/v2/audit', function: 'stats', access: 'read' },
] as const satisfies readonly Route[];

export const descriptionRoutes = [
  { method: 'GET', path: '/v2/health', function: 'description', access: 'open' },
  { method: 'GET', path: '/v2/openapi.json', function: 'description', access: 'open' },
] as const satisfies readonly Route[];

/** Both APIs serve the console, because a page may call only the API that it came from. */
export const consoleRoutes = [
  { method: 'GET', path: '/console', function: 'console', access: 'open' },
  { method: 'GET', path: '/console/{file}', function: 'console', access: 'open' },
] as const satisfies readonly Route[];

/** The management API has its own host. `brand` is `svc` or the name of another dialect. */
export const accountsRoutes = [
  { method: 'GET', path: '/v2/{brand}/users', function: 'accounts', access: 'management' },
  { method: 'POST', path: '/v2/{brand}/users', function: 'accounts', access: 'management' },
  { method: 'GET', path: '/v2/{brand}/users/{id}', function: 'accounts', access: 'management' },
  { method: 'PATCH', path: '/v2/{brand}/users/{id}', function: 'accounts', access: 'management' },
  { method: 'DELETE', path: '/v2/{brand}/users/{id}', function: 'accounts', access: 'management' },
  {
    method: 'POST',
    path: '/v2/{brand}/users/{id}/failure-callback/test',
    function: 'accounts',
    access: 'management',
  },
  { method: 'POST', path: '/v2/{brand}/rotate-token/{id}', function: 'accounts', access: 'management' },
  { method: 'POST', path: '/v2/{brand}/users/{id}/tokens', function: 'accounts', access: 'management' },
  { method: 'GET', path: '/v2/{brand}/users/{id}/tokens', function: 'accounts', access: 'management' },
  {
    method: 'DELETE',
    path: '/v2/{brand}/users/{id}/tokens/{tokenId}',
    function: 'accounts',
    access: 'management',
  },
  { method: 'GET', path: '/v2/{brand}/stats/{id}', function: 'accounts', access: 'management' },
  { method: 'GET', path: '/v2/{brand}/openapi.json', function: 'accounts', access: 'open' },
] as const satisfies readonly Route[];
