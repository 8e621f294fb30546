import type { ApiFunction } from '../../lambdas/http/routes.ts';
import type { queues, TimedFunction } from '../../lambdas/aws/resources.ts';

export type QueueFunction = Exclude<(typeof queues)[keyof typeof queues]['handler'], undefined>;
export type FunctionName = ApiFunction | QueueFunction | TimedFunction;

/**
 * The functions' modules. They are loaded on demand, because they read their settings while loading. The
 * paths are literals, so that bundlers find them.
 */
export const handlerModules: Readonly<Record<FunctionName, () => Promise<unknown>>> = {
  publish: () => import('../../lambdas/handlers/publish.ts'),
  messages: () => import('../../lambdas/handlers/messages.ts'),
  logs: () => import('../../lambdas/handlers/logs.ts'),
  urlGroups: () => import('../../lambdas/handlers/urlGroups.ts'),
  queues: () => import('../../lambdas/handlers/queues.ts'),
  flowControl: () => import('../../lambdas/handlers/flowControl.ts'),
  dlq: () => import('../../lambdas/handlers/dlq.ts'),
  schedules: () => import('../../lambdas/handlers/schedules.ts'),
  workflows: () => import('../../lambdas/handlers/workflows.ts'),
  keys: () => import('../../lambdas/handlers/keys.ts'),
  alarms: () => import('../../lambdas/handlers/alarms.ts'),
  stats: () => import('../../lambdas/handlers/stats.ts'),
  description: () => import('../../lambdas/handlers/description.ts'),
  console: () => import('../../lambdas/handlers/console.ts'),
  accounts: () => import('../../lambdas/handlers/accounts.ts'),
  deliver: () => import('../../lambdas/handlers/deliver.ts'),
  deliverAlone: () => import('../../lambdas/handlers/deliverAlone.ts'),
  fire: () => import('../../lambdas/handlers/fire.ts'),
  countOutcomes: () => import('../../lambdas/handlers/countOutcomes.ts'),
  lookForAlarms: () => import('../../lambdas/handlers/lookForAlarms.ts'),
  redrive: () => import('../../lambdas/handlers/redrive.ts'),
  followAccount: () => import('../../lambdas/handlers/followAccount.ts'),
};
