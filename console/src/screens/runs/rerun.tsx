import { useState } from 'preact/hooks';
import { rerunAnswer, rerunAnswers, cancelledRuns } from '../../../../lambdas/wire/workflowAnswers.ts';
import { ask, pagesOf, path, type Request } from '../../api/client.ts';
import { go } from '../../place.ts';
import { Opens } from '../../ui/act.tsx';
import { Bulk, DeleteAll } from '../../ui/bulk.tsx';
import { Confirm } from '../../ui/dialog.tsx';
import { ChangedSettings } from '../../ui/settings.tsx';
import { sentAs, settingHeaders, type SettingTexts } from '../../ui/settingTexts.ts';
import { hrefOf } from './links.ts';
import type { Run } from './timeline.ts';

/** The ways to run a failed run again. */
const kinds = [
  {
    kind: 'resume',
    verb: 'Resume',
    done: 'resumed',
    means: 'keeps the completed steps, and continues where it failed',
  },
  { kind: 'restart', verb: 'Restart', done: 'restarted', means: 'starts from the first step' },
] as const;

/** The headers of changed settings. Values that don't fit a header are in the query. */
function sent(texts: SettingTexts) {
  const { headers, query } = sentAs(settingHeaders(texts));
  return { headers, query: new URLSearchParams([...query]) };
}

/** Buttons for one failed run. */
export const RerunOne = ({ dlqId }: { readonly dlqId: string }) =>
  kinds.map((one) => (
    <Opens key={one.kind} name={one.verb} kind={one.kind === 'resume' ? 'main' : 'plain'}>
      {(onClose) => (
        <Rerun
          request={{ method: 'POST', path: path`v2/workflows/dlq/${one.kind}/${dlqId}` }}
          effect="It replaces the failed run in the list of runs to resume."
          onClose={onClose}
          {...one}
        />
      )}
    </Opens>
  ));

/** Buttons for a run that hangs. */
export const RerunHanging = ({ run: { workflowRunId, workflowRunCreatedAt } }: { readonly run: Run }) =>
  kinds.map((one) => (
    <Opens key={one.kind} name={one.verb} kind={one.kind === 'resume' ? 'main' : 'plain'}>
      {(onClose) => (
        <Rerun
          request={{
            method: 'POST',
            path: path`v2/workflows/runs/${workflowRunId}/${one.kind}`,
            headers: [['svc-workflow-createdat', String(workflowRunCreatedAt)]],
          }}
          effect="This one is then cancelled."
          onClose={onClose}
          {...one}
        />
      )}
    </Opens>
  ));

type Kind = (typeof kinds)[number];
interface DialogProps {
  readonly onClose: (isDone: boolean) => void;
}

interface RerunProps extends DialogProps, Omit<Kind, 'kind'> {
  readonly request: Omit<Request, 'query'>;
  readonly effect: string;
}

function Rerun({ request, effect, verb, done, means, onClose }: RerunProps) {
  const [texts, setTexts] = useState<SettingTexts>({});
  const work = async (): Promise<string> => {
    const { headers, query } = sent(texts);
    const run = await ask(rerunAnswer, {
      ...request,
      headers: [...(request.headers ?? []), ...headers],
      query,
    });
    go(hrefOf(run.workflowRunId, run.workflowCreatedAt));
    return `The run is ${done}. This is the new one.`;
  };
  return (
    <Confirm title={`${verb} the run?`} yes={verb} work={work} onClose={onClose}>
      <p>
        A new run {means}. {effect}
      </p>
      <ChangedSettings form="resume" texts={texts} onChange={setTexts} />
    </Confirm>
  );
}

interface QueryProps {
  readonly query: URLSearchParams;
  readonly then: () => void;
}

const deadRuns = { noun: 'run', path: 'v2/workflows/dlq', atOnce: 20 } as const;

interface FailedProps extends QueryProps {
  /** The words after the verb: `all 12`. */
  readonly which: string;
  /** Whether the buttons are hidden because there are no runs. An open dialogue stays open. */
  readonly isHidden: boolean;
  /** The selected ids; undefined for all that the query selects. */
  readonly ids?: readonly string[];
  /** The filter in words; empty if there is no filter. */
  readonly words?: string;
}

type BulkProps = Pick<FailedProps, 'query' | 'ids' | 'words'> & DialogProps;

export const ChangeFailed = ({ which, isHidden, then, ...acts }: FailedProps) => (
  <>
    {kinds.map((one) => (
      <Opens key={one.kind} name={`${one.verb} ${which}…`} isHidden={isHidden} then={then}>
        {(onClose) => <RerunAll {...acts} onClose={onClose} {...one} />}
      </Opens>
    ))}
    <Opens name={`Delete ${which}…`} isHidden={isHidden} then={then}>
      {(onClose) => (
        <DeleteAll {...acts} {...deadRuns} onClose={onClose}>
          <p>They can no longer be resumed. The log shows them while it is kept.</p>
        </DeleteAll>
      )}
    </Opens>
  </>
);

function RerunAll({ kind, verb, done, means, ...props }: Kind & BulkProps) {
  const [texts, setTexts] = useState<SettingTexts>({});
  return (
    <Bulk
      {...deadRuns}
      {...props}
      path="v2/workflows/dlq/count"
      verb={verb}
      done={done}
      work={async function* (selected) {
        const settings = sent(texts);
        const query = new URLSearchParams([...selected, ...settings.query]);
        const request = { method: 'POST', path: path`v2/workflows/dlq/${kind}`, query } as const;
        for await (const part of pagesOf(rerunAnswers, { ...request, headers: settings.headers })) {
          yield part.workflowRuns.length;
        }
      }}
    >
      <p>Each gets a new run {means}.</p>
      <ChangedSettings form="resume" texts={texts} onChange={setTexts} />
    </Bulk>
  );
}

/** The filters of a cancellation; undefined if filters are set that cancellations don't have. */
function toCancel(query: URLSearchParams): URLSearchParams | undefined {
  const { state = 'RUN_STARTED', ...others } = Object.fromEntries(query);
  if (state !== 'RUN_STARTED' || 'messageId' in others || 'workflowRunId' in others) return undefined;
  const exact = 'workflowUrl' in others && { workflowUrlExactMatch: 'true' };
  return new URLSearchParams({ ...others, ...exact });
}

export function CancelAll({ query, then }: QueryProps) {
  const selected = toCancel(query);
  if (selected === undefined) return null;
  return (
    <Opens name="Cancel all active runs…" then={then}>
      {(onClose) => (
        <Bulk
          verb="Cancel"
          done="cancelled"
          noun="run"
          path="v2/workflows/runs/count"
          query={selected}
          isDangerous
          onClose={onClose}
          work={async function* (query) {
            // The operation has no cursor. It is repeated until it cancels nothing.
            for (;;) {
              const request = { method: 'DELETE', path: 'v2/workflows/runs', query } as const;
              const { cancelled } = await ask(cancelledRuns, request);
              if (cancelled === 0) return;
              yield cancelled;
            }
          }}
        >
          <p>Their remaining steps are dropped. A cancelled run cannot be resumed.</p>
        </Bulk>
      )}
    </Opens>
  );
}
