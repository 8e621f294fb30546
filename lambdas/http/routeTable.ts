/**
 * The routes of each function; `routes.ts` combines them. A function's bundle has only its own routes: the whole table is 7 KB,
 * and a cold start compiles a regular expression for each path.
 */
import type { RouteTable } from './route.ts';

export const publishRoutes = {
  'POST /v2/publish/{destination+}': { access: 'write', publishes: true },
  'POST /v2/enqueue/{queueName}/{destination+}': { access: 'write', publishes: true },
  'POST /v2/batch': { access: 'write', publishes: true },
  // A workflow client's publish or batch also starts runs, so this function has the rights and the memory anyway.
  'POST /v2/trigger/{destination+}': { access: 'write', publishes: true },
  'POST /v2/batch/trigger': { access: 'write', publishes: true },
} as const satisfies RouteTable;

export const messagesRoutes = {
  'GET /v2/messages': { access: 'read' },
  'GET /v2/messages/count': { access: 'read' },
  'GET /v2/messages/{messageId}': { access: 'read' },
  'DELETE /v2/messages/{messageId}': { access: 'write', audit: 'messages.cancel' },
  'PATCH /v2/messages/{messageId}': { access: 'write', audit: 'message.change' },
  'POST /v2/messages/{messageId}/publish': { access: 'write' },
  'DELETE /v2/messages': { access: 'write', audit: 'messages.cancel' },
  'POST /v2/messages/{messageId}/complete': { access: 'write', audit: 'message.complete' },
  // The destination has no token. The URL is valid for one attempt.
  'POST /v2/complete/{completion}': { access: 'open' },
} as const satisfies RouteTable;

export const logsRoutes = {
  'GET /v2/logs': { access: 'read' },
  'GET /v2/events': { access: 'read' },
} as const satisfies RouteTable;

export const urlGroupsRoutes = {
  'GET /v2/topics': { access: 'read' },
  'GET /v2/topics/{name}': { access: 'read' },
  'PATCH /v2/topics/{name}': { access: 'write', audit: 'urlGroup.change' },
  'DELETE /v2/topics/{name}': { access: 'write', audit: 'urlGroup.delete' },
  'POST /v2/topics/{name}/endpoints': { access: 'write', audit: 'urlGroup.addEndpoints' },
  'DELETE /v2/topics/{name}/endpoints': { access: 'write', audit: 'urlGroup.removeEndpoints' },
  'POST /v2/topics/{name}/endpoints/rotate-signature': { access: 'write', audit: 'urlGroup.rotateSignature' },
  'DELETE /v2/topics/{name}/endpoints/rotate-signature': {
    access: 'write',
    audit: 'urlGroup.endSignatureOverlap',
  },
} as const satisfies RouteTable;

export const queuesRoutes = {
  'POST /v2/queues': { access: 'write', audit: 'queue.save' },
  'GET /v2/queues': { access: 'read' },
  'GET /v2/queues/{name}': { access: 'read' },
  'DELETE /v2/queues/{name}': { access: 'write', audit: 'queue.delete' },
  'POST /v2/queues/{name}/pause': { access: 'write', audit: 'queue.pause' },
  'POST /v2/queues/{name}/resume': { access: 'write', audit: 'queue.resume' },
} as const satisfies RouteTable;

export const flowControlRoutes = {
  'GET /v2/flowControl': { access: 'read' },
  'GET /v2/flowControl/{key}': { access: 'read' },
  'POST /v2/flowControl/{key}/pause': { access: 'write', audit: 'flowControl.pause' },
  'POST /v2/flowControl/{key}/resume': { access: 'write', audit: 'flowControl.resume' },
  'POST /v2/flowControl/{key}/pin': { access: 'write', audit: 'flowControl.pin' },
  'POST /v2/flowControl/{key}/unpin': { access: 'write', audit: 'flowControl.unpin' },
  'POST /v2/flowControl/{key}/resetRate': { access: 'write', audit: 'flowControl.resetRate' },
  // Published clients use this name.
  'POST /v2/flowControl/{key}/reset': { access: 'write', audit: 'flowControl.resetRate' },
  'GET /v2/globalParallelism': { access: 'read' },
  'GET /v2/circuits': { access: 'read' },
  'POST /v2/circuits/{host}/close': { access: 'write', audit: 'circuit.close' },
} as const satisfies RouteTable;

export const dlqRoutes = {
  'GET /v2/dlq': { access: 'read' },
  'GET /v2/dlq/count': { access: 'read' },
  'DELETE /v2/dlq': { access: 'write', audit: 'dlq.delete' },
  'POST /v2/dlq/retry': { access: 'write', audit: 'dlq.retry' },
  'POST /v2/dlq/retry/{dlqId}': { access: 'write', audit: 'dlq.retry' },
  'GET /v2/dlq/{dlqId}': { access: 'read' },
  'DELETE /v2/dlq/{dlqId}': { access: 'write', audit: 'dlq.delete' },
} as const satisfies RouteTable;

export const schedulesRoutes = {
  'POST /v2/schedules/{schedule+}': { access: 'write', audit: 'schedule.save' },
  'GET /v2/schedules': { access: 'read' },
  'GET /v2/schedules/{schedule}': { access: 'read' },
  'GET /v2/schedules/{schedule}/fires': { access: 'read' },
  'GET /v2/schedules/{schedule}/next': { access: 'read' },
  'PATCH /v2/schedules/{schedule}': { access: 'write', audit: 'schedule.change' },
  'DELETE /v2/schedules/{schedule}': { access: 'write', audit: 'schedule.delete' },
  'POST /v2/schedules/{schedule}/run': { access: 'write', audit: 'schedule.run' },
  'POST /v2/schedules/{schedule}/pause': { access: 'write', audit: 'schedule.pause' },
  'PATCH /v2/schedules/{schedule}/pause': { access: 'write', audit: 'schedule.pause' },
  'POST /v2/schedules/{schedule}/resume': { access: 'write', audit: 'schedule.resume' },
  'PATCH /v2/schedules/{schedule}/resume': { access: 'write', audit: 'schedule.resume' },
  'GET /v2/cron': { access: 'read' },
} as const satisfies RouteTable;

export const workflowsRoutes = {
  'GET /v2/workflows/runs/count': { access: 'read' },
  // The answer shows even redacted payloads, because endpoints need them.
  'GET /v2/workflows/runs/{runId}': { access: 'write' },
  'DELETE /v2/workflows/runs/{runId}': { access: 'write', audit: 'runs.cancel' },
  'POST /v2/workflows/runs/{runId}/resume': { access: 'write', audit: 'runs.resume' },
  'POST /v2/workflows/runs/{runId}/restart': { access: 'write', audit: 'runs.restart' },
  'DELETE /v2/workflows/runs': { access: 'write', audit: 'runs.cancel' },
  'GET /v2/workflows/logs': { access: 'read' },
  'GET /v2/workflows/events': { access: 'read' },
  // An event's id may have slashes, which the published client does not encode.
  'POST /v2/wait/{eventId+}': { access: 'write' },
  'POST /v2/notify/{event+}': { access: 'write', publishes: true },
  'GET /v2/waiters/{eventId+}': { access: 'read' },
  // Anyone who knows a webhook's URL may call it, with any method.
  'GET /v2/workflows/hooks/{account}/{runId}/{eventId}': { access: 'open' },
  'HEAD /v2/workflows/hooks/{account}/{runId}/{eventId}': { access: 'open' },
  'POST /v2/workflows/hooks/{account}/{runId}/{eventId}': { access: 'open' },
  'PUT /v2/workflows/hooks/{account}/{runId}/{eventId}': { access: 'open' },
  'PATCH /v2/workflows/hooks/{account}/{runId}/{eventId}': { access: 'open' },
  'DELETE /v2/workflows/hooks/{account}/{runId}/{eventId}': { access: 'open' },
  'GET /v2/workflows/dlq': { access: 'read' },
  'GET /v2/workflows/dlq/count': { access: 'read' },
  'DELETE /v2/workflows/dlq': { access: 'write', audit: 'runDlq.delete' },
  'GET /v2/workflows/dlq/{dlqId}': { access: 'read' },
  'DELETE /v2/workflows/dlq/{dlqId}': { access: 'write', audit: 'runDlq.delete' },
  'POST /v2/workflows/dlq/resume': { access: 'write', audit: 'runDlq.resume' },
  'POST /v2/workflows/dlq/resume/{dlqId}': { access: 'write', audit: 'runDlq.resume' },
  'POST /v2/workflows/dlq/restart': { access: 'write', audit: 'runDlq.restart' },
  'POST /v2/workflows/dlq/restart/{dlqId}': { access: 'write', audit: 'runDlq.restart' },
  'POST /v2/workflows/dlq/callback/{dlqId}': { access: 'write', audit: 'runDlq.runCallback' },
  'DELETE /v2/workflows/dlq/callback/{dlqId}': { access: 'write', audit: 'runDlq.cancelCallback' },
} as const satisfies RouteTable;

export const keysRoutes = {
  'GET /v2/keys': { access: 'read' },
  'POST /v2/keys/rotate': { access: 'write', audit: 'keys.rotate' },
  'POST /v2/rotate': { access: 'write', audit: 'keys.rotate' },
  'GET /v2/tokens': { access: 'read' },
  'POST /v2/tokens': { access: 'write', audit: 'token.create' },
  'DELETE /v2/tokens/{tokenId}': { access: 'write', audit: 'token.revoke' },
} as const satisfies RouteTable;

export const alarmsRoutes = {
  'GET /v2/alarms': { access: 'read' },
  'PUT /v2/alarms': { access: 'write', audit: 'alarms.save' },
  'DELETE /v2/alarms': { access: 'write', audit: 'alarms.delete' },
  'POST /v2/alarms/test': { access: 'write' },
} as const satisfies RouteTable;

export const statsRoutes = {
  'GET /v2/stats': { access: 'read' },
  'GET /v2/stats/attention': { access: 'read' },
  'GET /v2/stats/hosts': { access: 'read' },
  'GET /v2/stats/lanes': { access: 'read' },
  'GET /v2/metrics': { access: 'read' },
  'GET /v2/audit': { access: 'read' },
} as const satisfies RouteTable;

export const descriptionRoutes = {
  'GET /v2/health': { access: 'open' },
  'GET /v2/openapi.json': { access: 'open' },
} as const satisfies RouteTable;

export const consoleRoutes = {
  'GET /console': { access: 'open' },
  'GET /console/{file}': { access: 'open' },
} as const satisfies RouteTable;

/** The management API has its own host. `brand` is `svc` or the name of another dialect. */
export const accountsRoutes = {
  'GET /v2/{brand}/users': { access: 'management' },
  'POST /v2/{brand}/users': { access: 'management' },
  'GET /v2/{brand}/users/{id}': { access: 'management' },
  'PATCH /v2/{brand}/users/{id}': { access: 'management' },
  'DELETE /v2/{brand}/users/{id}': { access: 'management' },
  'POST /v2/{brand}/users/{id}/failure-callback/test': { access: 'management' },
  'POST /v2/{brand}/rotate-token/{id}': { access: 'management' },
  'POST /v2/{brand}/users/{id}/tokens': { access: 'management' },
  'GET /v2/{brand}/users/{id}/tokens': { access: 'management' },
  'DELETE /v2/{brand}/users/{id}/tokens/{tokenId}': { access: 'management' },
  'GET /v2/{brand}/stats/{id}': { access: 'management' },
  'GET /v2/{brand}/openapi.json': { access: 'open' },
} as const satisfies RouteTable;
