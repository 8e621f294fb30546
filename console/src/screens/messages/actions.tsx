import {
  changedMessage,
  completed,
  messageIdAnswer,
  type Answer,
  type messageInAnyState,
} from '../../../../lambdas/wire/answers.ts';
import { useMayWrite } from '../../access.ts';
import { ask, baseUrl, path } from '../../api/client.ts';
import { go, href } from '../../place.ts';
import { ActionForm, Deletes } from '../../ui/action.tsx';
import { ButtonLink, Copy } from '../../ui/basics.tsx';
import { exactTime } from '../../ui/time.tsx';
import { showAt } from '../../ui/toast.tsx';
import { RetryOne } from '../deadLetters/failed.tsx';
import { hrefOfMessages } from '../links.tsx';
import { curlOf, directCurlOf } from '../publish/curl.ts';
import { draftOf } from '../publish/draft.ts';

interface ActProps {
  readonly of: Answer<typeof messageInAnyState>;
  readonly then: () => void;
}

interface ActionsProps extends ActProps {
  /** Whether the message's dead letter still exists. */
  readonly isDead: boolean;
}

export function Actions({ of, isDead, then }: ActionsProps) {
  const mayWrite = useMayWrite();
  const { messageId, workflowRunId, dlqId } = of;
  // A run manages its own messages.
  const mayAct = mayWrite && workflowRunId === undefined;
  return (
    <>
      {mayAct && isDead && dlqId !== undefined && (
        <RetryOne
          dlqId={dlqId}
          then={(sent) => {
            go(hrefOfMessages(sent));
          }}
        />
      )}
      {mayWrite && of.state === 'ACTIVE' && (
        <>
          <Decide of={of} then={then} isGood />
          <Decide of={of} then={then} isGood={false} />
        </>
      )}
      {mayAct && of.nextDeliveryTime !== undefined && of.nextDeliveryTime > Date.now() && (
        <Change of={of} then={then} />
      )}
      {mayAct && of.endedAt === undefined && (
        <Deletes
          name="Cancel"
          title="Cancel 1 message?"
          yes="Cancel the message"
          effect="It will not be delivered. An attempt that is in flight may still arrive."
          request={{ path: path`v2/messages/${messageId}` }}
          said="The message has been cancelled."
          then={then}
        />
      )}
      {mayAct && (
        <>
          <PublishAgain of={of} isDead={isDead} />
          <ButtonLink href={href(['publish'], { message: messageId })}>Edit and publish</ButtonLink>
        </>
      )}
      <Copy text={messageId}>Copy the id</Copy>
      <Copy text={() => curlOf(draftOf(of, Date.now()), baseUrl)}>Copy as curl</Copy>
      <Copy text={() => directCurlOf(draftOf(of, Date.now()))}>Copy as curl to the destination</Copy>
    </>
  );
}

const PublishAgain = ({ of: { messageId, endedAt, state }, isDead }: Pick<ActionsProps, 'of' | 'isDead'>) => (
  <ActionForm
    name="Publish again…"
    kind={isDead || state === 'ACTIVE' ? 'plain' : 'main'}
    title="Publish the message again?"
    yes="Publish again"
    effect={`A new message is sent at once, with this one’s destination, body and settings. ${
      isDead
        ? 'The dead letter stays: “Retry” sends it again and removes it from the list.'
        : endedAt === undefined
          ? 'This one still waits, and is delivered, too.'
          : 'This one stays as it is.'
    }`}
    work={async () => {
      const again = path`v2/messages/${messageId}/publish`;
      const made = await ask(messageIdAnswer, { method: 'POST', path: again });
      showAt(href(['messages', made.messageId]), 'Published again.');
      return undefined;
    }}
  />
);

const Change = ({ of, then }: ActProps) => (
  <ActionForm
    name="Change…"
    title="Change the message"
    yes="Change the message"
    isGrid
    then={then}
    fields={{
      delay: {
        label: 'Delay from now',
        hint: 'For example 90s or 2h. Leave empty to keep the time of its next attempt.',
      },
      retries: { label: 'Retries', value: String(of.maxRetries) },
      timeout: { label: 'Timeout', value: `${of.timeout}s` },
      label: { label: 'Labels', value: of.labels?.join(', ') },
    }}
    work={async (_texts, changed) => {
      const { nextDeliveryTime } = await ask(changedMessage, {
        method: 'PATCH',
        path: path`v2/messages/${of.messageId}`,
        body: Object.fromEntries(changed),
      });
      return `The message has been changed. Its next attempt is due at ${exactTime(nextDeliveryTime)}.`;
    }}
  />
);

/** A 489 with this header is not retried. Both dialects are set, because the message may use either. */
const headersOf = (status: string): Readonly<Record<string, string>> =>
  status === '489' ? { 'Svc-NonRetryable-Error': 'true', 'Upstash-NonRetryable-Error': 'true' } : {};

const told: Readonly<Record<string, string>> = {
  DELIVERED: 'The message is delivered.',
  RETRY: 'The attempt failed. The next one follows.',
  FAILED: 'The message has failed.',
  CANCELED: 'The message was cancelled.',
};

/** Answers an open attempt by hand, instead of its destination. */
const Decide = ({ of, then, isGood }: ActProps & { readonly isGood: boolean }) => (
  <ActionForm
    name={isGood ? 'Complete…' : 'Fail…'}
    kind={isGood ? 'main' : 'plain'}
    title={isGood ? 'Complete the message?' : 'Fail the attempt?'}
    yes={isGood ? 'Complete' : 'Fail'}
    isDangerous={!isGood}
    effect="Its destination answered 202 and was to answer later. This answer counts instead."
    then={then}
    fields={{
      status: {
        label: 'Effect',
        value: isGood ? '200' : '500',
        options: [
          ['500', 'Like any failure: it is retried if retries are left'],
          ['489', 'It fails permanently'],
        ],
        isShown: () => !isGood,
      },
      comment: {
        label: 'Comment',
        hint: 'Optional, for the log and the audit trail: at most 200 characters.',
        rows: 2,
      },
      body: { label: 'Body of the answer', hint: 'Optional, for its callbacks.', rows: 3, isCode: true },
    }}
    work={async ({ status, comment, body }) => {
      const why = comment.trim() || undefined;
      const recorded = await ask(completed, {
        method: 'POST',
        path: path`v2/messages/${of.messageId}/complete`,
        body: { status: Number(status), headers: headersOf(status), body, comment: why },
      });
      const isFirst = recorded.comment === why && (recorded.state === 'DELIVERED') === isGood;
      return `${isFirst ? '' : 'Another answer was first. '}${told[recorded.state] ?? recorded.state}`;
    }}
  />
);
