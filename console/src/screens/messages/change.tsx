import { useState } from 'preact/hooks';
import { changedMessage } from '../../../../lambdas/wire/answers.ts';
import { ask, path } from '../../api/client.ts';
import { Opens } from '../../ui/act.tsx';
import { Confirm } from '../../ui/dialog.tsx';
import { TextField } from '../../ui/fields.tsx';
import { exactTime } from '../../ui/time.tsx';

interface Changed {
  readonly messageId: string;
  readonly maxRetries: number;
  readonly timeout: number;
  readonly labels?: readonly string[] | undefined;
}

interface ChangeProps {
  readonly of: Changed;
  readonly then: () => void;
}

export const Change = ({ of, then }: ChangeProps) => (
  <Opens name="Change…" then={then}>
    {(onClose) => <ChangeDialog of={of} onClose={onClose} />}
  </Opens>
);

function ChangeDialog({
  of,
  onClose,
}: Pick<ChangeProps, 'of'> & { readonly onClose: (isDone: boolean) => void }) {
  const before: Readonly<Record<string, string>> = {
    delay: '',
    retries: String(of.maxRetries),
    timeout: `${of.timeout}s`,
    label: of.labels?.join(', ') ?? '',
  };
  const [fields, setFields] = useState(before);
  const field = (about: string, label: string, hint?: string) => (
    <TextField
      label={label}
      about={about}
      hint={hint}
      value={fields[about] ?? ''}
      onInput={(value) => {
        setFields({ ...fields, [about]: value });
      }}
    />
  );
  const work = async (): Promise<string> => {
    const changed = Object.entries(fields).filter(([name, value]) => value !== before[name]);
    const { nextDeliveryTime } = await ask(changedMessage, {
      method: 'PATCH',
      path: path`v2/messages/${of.messageId}`,
      body: Object.fromEntries(changed),
    });
    return `The message is changed. Its next attempt is due at ${exactTime(nextDeliveryTime)}.`;
  };
  return (
    <Confirm title="Change the message" yes="Change the message" work={work} onClose={onClose}>
      <div class="fields">
        {field(
          'delay',
          'Delay from now',
          'Such as 90s or 2h. Leave empty to keep the time of its next attempt.',
        )}
        {field('retries', 'Retries')}
        {field('timeout', 'Timeout')}
        {field('label', 'Labels')}
      </div>
    </Confirm>
  );
}
