import { href } from '../../place.ts';
import { clockTime } from '../../ui/time.tsx';

/** The address of a run. Ids can be reused, so it also has the start. */
export const hrefOf = (workflowRunId: string, workflowCreatedAt: number): string =>
  href(['runs', workflowRunId], { workflowCreatedAt });

interface Hanging {
  readonly since: number;
  /** The endpoint's last status. */
  readonly status?: number | undefined;
}

export const sayHanging = ({ since, status }: Hanging): string =>
  `Nothing is pending since ${clockTime(since)}${status === undefined ? '' : `; the endpoint answered ${status} and submitted nothing`}.`;
