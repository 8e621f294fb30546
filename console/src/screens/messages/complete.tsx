/** Completes a message's open attempt by hand, in place of its destination. */
import { useState } from 'preact/hooks';
import { completed } from '../../../../lambdas/wire/answers.ts';
import { ask, path } from '../../api/client.ts';
import { Opens } from '../../ui/act.tsx';
import { Confirm } from '../../ui/dialog.tsx';
import { SelectField, TextField } from '../../ui/fields.tsx';

interface CompleteProps {
  readonly messageId: string;
  readonly then: () => void;
}

export const Complete = ({ messageId, then }: CompleteProps) => (
  <Opens name="Complete…" kind="main" then={then}>
    {(onClose) => <CompleteDialog messageId={messageId} onClose={onClose} />}
  </Opens>
);

const answers = [
  ['200', '200: it succeeded'],
  ['500', '500: it failed, and is retried'],
  ['489', '489: it failed permanently'],
] as const;

/** With this header a 489 is not retried. It is sent in both dialects, because the message may use either. */
const headersOf = (status: string): Readonly<Record<string, string>> =>
  status === '489' ? { 'Svc-NonRetryable-Error': 'true', 'Upstash-NonRetryable-Error': 'true' } : {};

const told: Readonly<Record<string, string>> = {
  DELIVERED: 'The message is delivered.',
  RETRY: 'The attempt failed. The next one follows.',
  FAILED: 'The message has failed.',
  CANCELED: 'The message was cancelled.',
};

function CompleteDialog({
  messageId,
  onClose,
}: Pick<CompleteProps, 'messageId'> & { readonly onClose: (isDone: boolean) => void }) {
  const [status, setStatus] = useState('200');
  const [body, setBody] = useState('');
  const work = async (): Promise<string> => {
    const { state } = await ask(completed, {
      method: 'POST',
      path: path`v2/messages/${messageId}/complete`,
      body: { status: Number(status), headers: headersOf(status), body },
    });
    return told[state] ?? state;
  };
  return (
    <Confirm title="Complete the attempt?" yes="Complete the attempt" work={work} onClose={onClose}>
      <p>Its destination answered 202 and was to complete it later. This answer replaces that completion.</p>
      <div class="fields">
        <SelectField label="Answer" value={status} options={answers} onInput={setStatus} />
        <TextField label="Body" about="body" value={body} rows={4} isCode onInput={setBody} />
      </div>
    </Confirm>
  );
}
