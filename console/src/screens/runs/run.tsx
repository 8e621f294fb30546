import { useState } from 'preact/hooks';
import { notified, runDeadLetterPage, runPage } from '../../../../lambdas/wire/workflowAnswers.ts';
import { useMayWrite } from '../../access.ts';
import { ask, path } from '../../api/client.ts';
import { oftenMs, useAsked } from '../../api/useAsked.ts';
import { href, type Place } from '../../place.ts';
import { Act, ActionForm, Deletes, sends } from '../../ui/action.tsx';
import { Loaded } from '../../ui/resourcePage.tsx';
import { Card, Empty, DetailList, Failure, Page, State } from '../../ui/basics.tsx';
import { Body, Headers } from '../../ui/body.tsx';
import { parsed } from '../../api/json.ts';
import { Time, duration, exactly } from '../../ui/time.tsx';
import { returnedIn } from './failure.ts';
import { requestFor, RerunHanging, RerunOne } from './rerun.tsx';
import { Refused, Requests } from './requests.tsx';
import { Errors, RunState, Timeline } from './steps.tsx';
import type { Run, Step } from './timeline.ts';
import { linkTo, linkToRun, sayHanging } from '../links.tsx';

export function OneRun({ place, id }: { readonly place: Place; readonly id: string }) {
  const workflowCreatedAt = place.query.get('workflowCreatedAt') ?? undefined;
  const [isOver, setOver] = useState(false);
  const query = { workflowRunId: id, workflowCreatedAt, count: 1 };
  const asked = useAsked(runPage, { path: 'v2/workflows/logs', query }, isOver ? undefined : oftenMs);
  const run = asked.answer?.runs[0];
  if (run !== undefined && isSettled(run) !== isOver) setOver(!isOver);
  return (
    <Page
      title={id}
      back={{ href: href(['runs']), name: 'Workflow runs' }}
      actions={
        useMayWrite() && (run && hasActions(run) ? <Actions run={run} then={asked.again} /> : run && false)
      }
    >
      <Loaded of={asked}>
        {() =>
          run === undefined ? (
            <Empty title="There is no such run, or it is no longer kept." />
          ) : (
            <Details run={run} />
          )
        }
      </Loaded>
    </Page>
  );
}

/** Whether the run will no longer change by itself. */
const isSettled = ({ workflowState, failureFunction }: Run): boolean =>
  workflowState !== 'RUN_STARTED' && failureFunction?.state !== 'CALLBACK_INPROGRESS';

const hasActions = ({ workflowState }: Run): boolean =>
  workflowState === 'RUN_STARTED' || workflowState === 'RUN_FAILED';

interface ActionsProps {
  readonly run: Run;
  readonly then: () => void;
}

const Actions = ({ run, then }: ActionsProps) =>
  run.workflowState === 'RUN_STARTED' ? (
    <>
      {run.hanging !== undefined && <RerunHanging run={run} />}
      <Notify run={run} then={then} />
      <Deletes
        name="Cancel"
        title="Cancel the run?"
        yes="Cancel the run"
        effect="Its remaining steps are dropped. A cancelled run cannot be resumed."
        request={requestFor(run)}
        said="The run has been cancelled."
        then={then}
      />
    </>
  ) : (
    <FailedActions run={run} then={then} />
  );

/** Buttons for a failed run, while its dead letter exists. It is written slightly after the run's end. */
function FailedActions({ run, then }: ActionsProps) {
  const { workflowRunId, workflowRunCreatedAt: workflowCreatedAt } = run;
  const query = { workflowRunId, workflowCreatedAt, count: 1 };
  const { answer, error, again } = useAsked(runDeadLetterPage, { path: 'v2/workflows/dlq', query }, oftenMs);
  const [letter] = answer?.messages ?? [];
  if (letter === undefined) return error === undefined ? null : <Failure error={error} />;
  const { dlqId, failureFunctionState: told } = letter;
  const callback = path`v2/workflows/dlq/callback/${dlqId}`;
  const afterwards = (): void => {
    again();
    then();
  };
  return (
    <>
      <RerunOne dlqId={dlqId} />
      {told === 'CALLBACK_FAIL' && (
        <Act
          name="Call failure function"
          work={sends({ path: callback }, 'The failure function is called again.')}
          then={afterwards}
        />
      )}
      {told === 'CALLBACK_INPROGRESS' && (
        <Act
          name="Cancel failure function"
          work={sends({ method: 'DELETE', path: callback }, 'The failure function has been cancelled.')}
          then={afterwards}
        />
      )}
      <Deletes
        name="Delete"
        title="Delete the dead letter of the run?"
        yes="Delete"
        effect="After that, the run cannot be resumed. The log shows it as long as it is kept."
        request={{ path: path`v2/workflows/dlq/${dlqId}` }}
        said="The dead letter has been deleted."
        then={afterwards}
      />
    </>
  );
}

const stepsOf = ({ steps }: Run): readonly Step[] => steps.flatMap((group): readonly Step[] => group.steps);

function Notify({ run, then }: ActionsProps) {
  const wait = stepsOf(run).find(({ stepType, state }) => stepType === 'Wait' && state === 'STEP_PROGRESS');
  return (
    <ActionForm
      name="Notify"
      title="Notify the run"
      yes="Notify"
      then={then}
      fields={{
        eventId: {
          label: 'Event id',
          about: 'The id of the event',
          value: wait?.waitEventId,
          required: true,
          autoFocus: true,
        },
        data: {
          label: 'Data',
          about: 'The body',
          rows: 5,
          isCode: true,
          placeholder: '{"approved": true}',
          hint: 'JSON, as clients send it. Leave empty to send no data.',
        },
      }}
      work={async ({ eventId, data }) => {
        // Refused here, because clients parse the data of an event.
        if (data.trim() !== '' && parsed(data) === undefined)
          throw new Error('The body is not valid JSON; put plain text in quotes, as in "approved".');
        const at = path`v2/notify/${run.workflowRunId}/${eventId}`;
        const answers = await ask(notified, { method: 'POST', path: at, body: data });
        const wrong = answers.find(({ error }) => error !== '');
        if (wrong !== undefined) throw new Error(wrong.error);
        return answers.some(({ waiter }) => waiter !== undefined)
          ? 'The run continues with the event.'
          : 'The event is kept until the run waits for it.';
      }}
    />
  );
}

function Hangs({ hanging }: { readonly hanging: NonNullable<Run['hanging']> }) {
  const { requestedAt, messageId, refusal } = hanging;
  return (
    <Card title="The run hangs">
      <p class="wrong">{sayHanging(hanging)}</p>
      <DetailList
        of={[
          ['Last request', exactly(requestedAt)],
          ['Message', linkTo('messages', messageId)],
          ['Answer', hanging.status],
          ['Last refusal', refusal && <Refused of={refusal} />],
        ]}
      />
      <p class="hint">
        It does not continue by itself. If an endpoint submits with another account’s token, or to another
        deployment, it gets the answer that the run is unknown, and then answers as if all were well. Fix
        this, then resume or restart the run.
      </p>
    </Card>
  );
}

function Details({ run }: { readonly run: Run }) {
  const { workflowRunCreatedAt: from, workflowRunCompletedAt: until, invoker, failureFunction } = run;
  const { responseBody, state } = failureFunction ?? {};
  const returned =
    state === 'CALLBACK_SUCCESS' && responseBody !== undefined ? returnedIn(responseBody) : undefined;
  const [initial] = stepsOf(run);
  const failure =
    run.workflowState === 'RUN_FAILED'
      ? stepsOf(run)
          .flatMap(({ errors = [] }) => errors)
          .at(-1)
      : undefined;
  return (
    <>
      <Card>
        <p class="row">
          <RunState of={run} /> <code>{run.workflowUrl}</code>
        </p>
        <DetailList
          of={[
            ['Started', <Time at={from} />],
            ['Duration', until && duration(until - from)],
            ['Labels', run.labels?.join(', ')],
            ['Flow-control key', linkTo('flow-control', run.flowControlKey)],
            ['Started from', run.workflowRunCallerIp],
            ['Invoked by', linkToRun(invoker)],
            ['Created from', linkToRun(run.resumedFrom)],
            ['Continued as', linkToRun(run.resumedAs)],
          ]}
        />
      </Card>
      {run.hanging && <Hangs hanging={run.hanging} />}
      {failure && (
        <Card title="Why it failed">
          <Errors of={[failure]} label="failure" />
        </Card>
      )}
      <Timeline run={run} />
      <Requests of={run.requests ?? []} />
      <div class="grid">
        <Card title="Request">
          <Body label="payload" text={initial?.out} />
          <Headers of={initial?.headers ?? {}} label="Headers of the request" />
        </Card>
        {run.workflowState === 'RUN_SUCCESS' && (
          <Card title="Result">
            <Body label="what the run returned" text={run.workflowRunResponse} />
          </Card>
        )}
        {failureFunction && (
          <Card title="Failure function">
            <DetailList
              of={[
                ['State', <State state={failureFunction.state} />],
                ['URL', <code>{failureFunction.url}</code>],
                ['Status', failureFunction.responseStatus],
                ['Maximum retries', failureFunction.maxRetries],
              ]}
            />
            <Errors of={failureFunction.errors} label="failed call" />
            {returned !== undefined && <Body label="what it returned" text={returned} />}
          </Card>
        )}
      </div>
    </>
  );
}
