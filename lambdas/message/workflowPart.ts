/**
 * The roles of messages in a workflow's run:
 * - `list`: delivers the list of entries up to one of them to the endpoint.
 * - `call`: a step's request to a third party.
 * - `callResult`: brings the answer to a call to the endpoint.
 * - `failureRequest`: tells the endpoint that its run has failed.
 */
export const workflowRoles = ['list', 'call', 'callResult', 'failureRequest'] as const;
export type WorkflowRole = (typeof workflowRoles)[number];

/** The part that a message has in a run. */
export interface WorkflowPart {
  readonly role: WorkflowRole;
  readonly runId: string;
  /** Unix milliseconds at which the run was started. */
  readonly createdAt: number;
  /** The place of the run's start in the journal of its id. */
  readonly startSeq: number;
  /** Of a failure request: the dead letter of its run. */
  readonly dlqId?: string | undefined;
}
