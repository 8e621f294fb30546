/** The service's answers, read without a client, because old clients don't declare all fields. */
import * as z from 'zod/mini';
import { eventually } from '../support/eventually.ts';
import { token, url } from './harness.ts';

async function read(path: string): Promise<unknown> {
  const response = await fetch(`${url}${path}`, { headers: { authorization: `Bearer ${token}` } });
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return response.json();
}

const messageShape = z.looseObject({ notBefore: z.number(), createdAt: z.number() });

export const messageOf = async (messageId: string) =>
  messageShape.parse(await read(`/v2/messages/${messageId}`));

const logShape = z.object({ logs: z.array(z.looseObject({ state: z.string() })) });

/** Waits until a message is delivered, according to the log. */
export const delivered = (messageId: string) =>
  eventually(
    async () => logShape.parse(await read(`/v2/logs?messageId=${messageId}`)).logs,
    (logs) => logs.some(({ state }) => state === 'DELIVERED'),
  );

const deadLetterShape = z.object({ messages: z.array(z.looseObject({ dlqId: z.string() })) });

/** Waits for a message's dead letter. @returns its id */
export async function deadLetterOf(messageId: string): Promise<string> {
  const letters = await eventually(
    async () => deadLetterShape.parse(await read(`/v2/dlq?messageId=${messageId}`)).messages,
    ({ length }) => length > 0,
  );
  return letters[0]?.dlqId ?? '';
}

const keysShape = z.object({ current: z.string(), next: z.string() });

export async function signingKeys() {
  const { current, next } = keysShape.parse(await read('/v2/keys'));
  return { currentSigningKey: current, nextSigningKey: next };
}

const runsShape = z.object({ runs: z.array(z.looseObject({ workflowState: z.string() })) });

/** Waits until a run has ended. @returns its state */
export async function stateOf(workflowRunId: string): Promise<string> {
  const runs = await eventually(
    async () => runsShape.parse(await read(`/v2/workflows/logs?workflowRunId=${workflowRunId}`)).runs,
    ([run]) => run !== undefined && run.workflowState !== 'RUN_STARTED',
  );
  return runs[0]?.workflowState ?? '';
}

/** Waits for a run's dead letter. @returns its id */
export async function deadLetterOfRun(workflowRunId: string): Promise<string> {
  const letters = await eventually(
    async () =>
      deadLetterShape.parse(await read(`/v2/workflows/dlq?workflowRunId=${workflowRunId}`)).messages,
    ({ length }) => length > 0,
  );
  return letters[0]?.dlqId ?? '';
}
