import { changedMessage } from '../../../../lambdas/wire/answers.ts';
import { ask, path } from '../../api/client.ts';
import { ActionForm } from '../../ui/action.tsx';
import { exactTime } from '../../ui/time.tsx';

interface ChangeProps {
  readonly of: {
    readonly messageId: string;
    readonly maxRetries: number;
    readonly timeout: number;
    readonly labels?: readonly string[] | undefined;
  };
  readonly then: () => void;
}

export const Change = ({ of, then }: ChangeProps) => (
  <ActionForm
    name="Change…"
    title="Change the message"
    yes="Change the message"
    isGrid
    then={then}
    fields={{
      delay: {
        label: 'Delay from now',
        hint: 'Such as 90s or 2h. Leave empty to keep the time of its next attempt.',
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
      return `The message is changed. Its next attempt is due at ${exactTime(nextDeliveryTime)}.`;
    }}
  />
);
