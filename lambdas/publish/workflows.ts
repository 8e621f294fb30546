/**
 * Requests of workflow clients. Workflows depend on publishing, so handlers plug them in here. They are
 * loaded on first use.
 */
import type { Account } from '../account/account.ts';
import type { PublishRequest } from './prepare.ts';

/** The answer to a request, with the run's id if it started a run. */
export interface WorkflowAnswer {
  readonly messageId: string;
  readonly deduplicated?: true;
  readonly workflowRunId?: string;
  readonly workflowCreatedAt?: number;
}

interface WorkflowPublishing {
  /**
   * Publishes all requests or none.
   *
   * @returns an answer for each, in order
   * @throws HttpError 400 for a malformed request, 412 above a limit, or as a publish does
   */
  readonly publishRequests: (
    account: Account,
    requests: readonly PublishRequest[],
  ) => Promise<readonly WorkflowAnswer[]>;
}

let load: (() => Promise<WorkflowPublishing>) | undefined;

export function plugInWorkflows(loader: () => Promise<WorkflowPublishing>): void {
  load = loader;
}

/** @throws Error if no handler plugged in workflows */
export function workflowPublishing(): Promise<WorkflowPublishing> {
  if (load === undefined) throw new Error('No handler for requests of workflow clients is plugged in.');
  return load();
}

/** Whether a request starts a run or belongs to one. */
export const isOfWorkflow = ({ config }: Pick<PublishRequest, 'config'>): boolean =>
  config.has('workflow-init');

/** Whether a request belongs to a started run. */
export const isOfRun = ({ config }: Pick<PublishRequest, 'config'>): boolean =>
  config.get('workflow-init')?.[0]?.trim().toLowerCase() === 'false';
