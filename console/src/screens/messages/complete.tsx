/** Completes a message's open attempt by hand, in place of its destination. */
import { completed } from '../../../../lambdas/wire/answers.ts';
import { ActionForm } from '../../ui/action.tsx';
import { ask, path } from '../../api/client.ts';

/** With this header a 489 is not retried. It is sent in both dialects, because the message may use either. */
const headersOf = (status: string): Readonly<Record<string, string>> =>
  status === '489' ? { 'Svc-NonRetryable-Error': 'true', 'Upstash-NonRetryable-Error': 'true' } : {};

const told: Readonly<Record<string, string>> = {
  DELIVERED: 'The message is delivered.',
  RETRY: 'The attempt failed. The next one follows.',
  FAILED: 'The message has failed.',
  CANCELED: 'The message was cancelled.',
};

interface CompleteProps {
  readonly messageId: string;
  readonly then: () => void;
}

export const Complete = ({ messageId, then }: CompleteProps) => (
  <ActionForm
    name="Complete…"
    kind="main"
    title="Complete the attempt?"
    yes="Complete the attempt"
    isGrid
    then={then}
    fields={{
      status: {
        label: 'Answer',
        value: '200',
        options: [
          ['200', '200: it succeeded'],
          ['500', '500: it failed, and is retried'],
          ['489', '489: it failed permanently'],
        ],
      },
      body: { label: 'Body', rows: 4, isCode: true },
    }}
    work={async ({ status, body }) => {
      const { state } = await ask(completed, {
        method: 'POST',
        path: path`v2/messages/${messageId}/complete`,
        body: { status: Number(status), headers: headersOf(status), body },
      });
      return told[state] ?? state;
    }}
  >
    <p>Its destination answered 202 and was to complete it later. This answer replaces that completion.</p>
  </ActionForm>
);
