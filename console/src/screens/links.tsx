/** The addresses of things, and links to them. */
import { href, type Query } from '../place.ts';
import { clockTime } from '../ui/time.tsx';

export const linkTo = (screen: string, id: string | undefined) => id && <a href={href([screen, id])}>{id}</a>;

export const hrefOfHost = (host: string): string => href(['overview', 'hosts', host]);

/** The address of a schedule. A schedule may be called `new`, like the form. */
export const hrefOfSchedule = (scheduleId: string): string =>
  href(['schedules', scheduleId, ...(scheduleId === 'new' ? ['details'] : [])]);

/** The most ids in an address: some programs refuse longer ones. */
const mostIds = 50;

/**
 * The address of a message or a list.
 *
 * @param instead the filter to use if there are too many ids
 */
export function hrefOfMessages(ids: readonly string[], instead: Query = {}): string {
  const [only] = ids;
  if (ids.length === 1 && only !== undefined) return href(['messages', only]);
  return href(['messages'], ids.length > mostIds ? instead : { messageIds: ids.join(',') });
}

/** The address of a run. It includes the start, because ids can be reused. */
export const hrefOfRun = (workflowRunId: string, workflowCreatedAt: number): string =>
  href(['runs', workflowRunId], { workflowCreatedAt });

interface RunId {
  readonly workflowRunId: string;
  readonly workflowRunCreatedAt: number;
}

export const linkToRun = (of: RunId | undefined) =>
  of && <a href={hrefOfRun(of.workflowRunId, of.workflowRunCreatedAt)}>{of.workflowRunId}</a>;

interface Hanging {
  readonly since: number;
  readonly status?: number | undefined;
}

export const sayHanging = ({ since, status }: Hanging): string =>
  `Nothing has been pending since ${clockTime(since)}${status === undefined ? '' : `; the endpoint answered ${status} and submitted nothing`}.`;
