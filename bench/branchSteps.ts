/** Requests of a run with parallel steps, as the published client makes them. */

export const endpointHeaders = { 'Upstash-Workflow-Sdk-Version': '1' };

interface SubmittedStep {
  readonly stepId: number;
  readonly stepName: string;
  readonly stepType: 'Run';
  readonly concurrent: number;
  readonly targetStep?: number;
  readonly out?: string;
}

const stepOf = (stepId: number, concurrent: number) =>
  ({ stepName: `step-${stepId}`, stepType: 'Run', concurrent }) as const;

/** @param stepId from 1 to the number of parallel steps */
export const planOf = (stepId: number, concurrent: number): SubmittedStep => ({
  ...stepOf(stepId, concurrent),
  stepId: 0,
  targetStep: stepId,
});

export const resultOf = (stepId: number, concurrent: number): SubmittedStep => ({
  ...stepOf(stepId, concurrent),
  stepId,
  out: '{"booked":true}',
});

/** A batch that starts a run, or submits its steps. */
export function batchOf(
  { url, runId, isInit }: { readonly url: string; readonly runId: string; readonly isInit: boolean },
  bodies: readonly object[],
): string {
  const headers = {
    'Content-Type': 'application/json',
    'Upstash-Method': 'POST',
    'Upstash-Workflow-RunId': runId,
    'Upstash-Workflow-Url': url,
    'Upstash-Workflow-Init': String(isInit),
    'Upstash-Workflow-Sdk-Version': '1',
    'Upstash-Feature-Set': 'LazyFetch,InitialBody,WF_DetectTrigger,WF_TriggerOnConfig',
    'Upstash-Forward-Upstash-Workflow-Sdk-Version': '1',
  };
  return JSON.stringify(bodies.map((body) => ({ destination: url, headers, body: JSON.stringify(body) })));
}
