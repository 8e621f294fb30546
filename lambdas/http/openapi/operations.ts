import type { ApiFunction } from '../routes.ts';
import type { Operation } from './parts/operation.ts';
import { accounts } from './operations/accounts.ts';
import { description } from './operations/description.ts';
import { dlq } from './operations/dlq.ts';
import { flowControl } from './operations/flowControl.ts';
import { keys } from './operations/keys.ts';
import { logs } from './operations/logs.ts';
import { messages } from './operations/messages.ts';
import { publish } from './operations/publish.ts';
import { queues } from './operations/queues.ts';
import { schedules } from './operations/schedules.ts';
import { alarms, stats } from './operations/stats.ts';
import { urlGroups } from './operations/urlGroups.ts';
import { workflows } from './operations/workflows.ts';

export const byFunction: Readonly<
  Record<Exclude<ApiFunction, 'console'>, Readonly<Record<string, Operation>>>
> = {
  publish,
  messages,
  logs,
  urlGroups,
  queues,
  flowControl,
  dlq,
  schedules,
  workflows,
  keys,
  alarms,
  stats,
  description,
  accounts,
};
