import { rerunAnswer } from '../../../../lambdas/wire/workflowAnswers.ts';
import { ask, path, type Request } from '../../api/client.ts';
import { Bulk, inBackground } from '../../lists/bulk.tsx';
import { go } from '../../place.ts';
import { ActionForm } from '../../ui/action.tsx';
import { ChangedSettings } from '../../ui/settings.tsx';
import { rerunWays, settingsIn } from '../deadLetters/failed.tsx';
import type { Run } from './timeline.ts';
import { hrefOfRun } from '../links.tsx';

interface RerunProps {
  readonly requestOf: (kind: (typeof rerunWays)[number]['kind']) => Omit<Request, 'query'>;
  readonly effect: string;
}

const Rerun = ({ requestOf, effect }: RerunProps) =>
  rerunWays.map(({ kind, verb, done, means }) => (
    <ActionForm
      key={kind}
      name={verb}
      kind={kind === 'resume' ? 'main' : 'plain'}
      title={`${verb} the run?`}
      yes={verb}
      effect={`A new run ${means}. ${effect}`}
      more={(props) => <ChangedSettings form="resume" {...props} />}
      work={async (_texts, changed) => {
        const { headers = [], ...request } = requestOf(kind);
        const settings = settingsIn(Object.fromEntries(changed));
        const run = await ask(rerunAnswer, {
          ...request,
          method: 'POST',
          headers: [...headers, ...settings.headers],
          query: settings.query,
        });
        go(hrefOfRun(run.workflowRunId, run.workflowCreatedAt));
        return `The run is ${done}. This is the new one.`;
      }}
    />
  ));

export const RerunOne = ({ dlqId }: { readonly dlqId: string }) => (
  <Rerun
    requestOf={(kind) => ({ path: path`v2/workflows/dlq/${kind}/${dlqId}` })}
    effect="It replaces the failed run in the list of runs to resume."
  />
);

/** A request about a run. It includes the start, because ids can be reused. */
export const requestFor = ({ workflowRunId, workflowRunCreatedAt }: Run, what = '') => ({
  path: path`v2/workflows/runs/${workflowRunId}` + what,
  headers: [['svc-workflow-createdat', String(workflowRunCreatedAt)]] as const,
});

export const RerunHanging = ({ run }: { readonly run: Run }) => (
  <Rerun requestOf={(kind) => requestFor(run, `/${kind}`)} effect="This one is then cancelled." />
);

/** The filters of a cancellation; undefined if one of the filters cannot be used for it. */
function toCancel(query: URLSearchParams): URLSearchParams | undefined {
  const { state = 'RUN_STARTED', ...others } = Object.fromEntries(query);
  if (state !== 'RUN_STARTED' || 'messageId' in others || 'workflowRunId' in others) return undefined;
  const exact = 'workflowUrl' in others && { workflowUrlExactMatch: 'true' };
  return new URLSearchParams({ ...others, ...exact });
}

export function CancelAll({ query, then }: { readonly query: URLSearchParams; readonly then: () => void }) {
  const selected = toCancel(query);
  if (selected === undefined) return null;
  return (
    <Bulk
      name="Cancel all active runs…"
      verb="Cancel"
      done="cancelled"
      effect="Their remaining steps are dropped. A cancelled run cannot be resumed."
      noun="run"
      path="v2/workflows/runs/count"
      query={selected}
      isDangerous
      then={then}
      work={(query) => inBackground({ method: 'DELETE', path: 'v2/workflows/runs' }, query)}
    />
  );
}
