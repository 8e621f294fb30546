/** The addresses of runs, and why one hangs in words. */
import { href } from '../../place.ts';
import { clockTime } from '../../ui/time.tsx';

/** The address of a run. Its id may have been used before, so the address also has its start. */
export const hrefOf = (workflowRunId: string, workflowCreatedAt: number): string =>
  href(['runs', workflowRunId], { workflowCreatedAt });

interface Hanging {
  /** Unix milliseconds. */
  readonly since: number;
  /** The status of the endpoint's last answer. */
  readonly status?: number | undefined;
}

/** Says why a run hangs. */
export const sayHanging = ({ since, status }: Hanging): string =>
  `Nothing is pending since ${clockTime(since)}${status === undefined ? '' : `; the endpoint answered ${status} and submitted nothing`}.`;
