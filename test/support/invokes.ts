/** The request with which an endpoint's step invokes another workflow, as the published client sends it. */
export const invokeOf = (
  run: { readonly runId: string; readonly url: string },
  destination: string,
  headers: Readonly<Record<string, string>>,
  more: object = {},
) => ({
  path: `/v2/publish/${destination}`,
  headers: { 'Upstash-Workflow-Invoke': 'true', ...headers, 'Upstash-Workflow-Init': 'true' },
  body: JSON.stringify({
    headers: {},
    workflowRunId: run.runId,
    workflowUrl: run.url,
    step: { stepId: 1, stepName: 'invoke', stepType: 'Invoke', concurrent: 1 },
    ...more,
  }),
});
