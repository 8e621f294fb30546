/**
 * Requests of workflow clients among those to publish. Workflows stand above publishing, so the handlers plug them in. Few
 * requests are such, and the code for them is loaded when the first comes.
 */
import type { Account } from '../account/account.ts';
import type { PublishRequest } from './prepare.ts';

/** The answer to a part of a request. One that started a run tells its id. */
export interface WorkflowAnswer {
  readonly messageId: string;
  readonly deduplicated?: true;
  readonly workflowRunId?: string;
  /** Unix milliseconds. */
  readonly workflowCreatedAt?: number;
}

/** The publishing of workflow clients' requests. */
interface WorkflowPublishing {
  /**
   * Publishes requests: all or none.
   *
   * @returns one answer for each, in their order
   * @throws HttpError 400 for a malformed request, 412 above a limit, and as for a publish
   */
  readonly publishRequests: (
    account: Account,
    requests: readonly PublishRequest[],
  ) => Promise<readonly WorkflowAnswer[]>;
}

let load: (() => Promise<WorkflowPublishing>) | undefined;

/** Plugs in the publishing of workflow clients' requests. */
export function plugInWorkflows(loader: () => Promise<WorkflowPublishing>): void {
  load = loader;
}

/** @throws Error in a process into which no handler plugged it */
export function workflowPublishing(): Promise<WorkflowPublishing> {
  if (load === undefined) throw new Error('Nothing is plugged in for requests of workflow clients.');
  return load();
}

/** Tells whether a request starts a run, or belongs to one. */
export const isOfWorkflow = ({ config }: Pick<PublishRequest, 'config'>): boolean =>
  config.has('workflow-init');

/** Tells whether a request belongs to a run that has been started. */
export const isOfRun = ({ config }: Pick<PublishRequest, 'config'>): boolean =>
  config.get('workflow-init')?.[0]?.trim().toLowerCase() === 'false';
