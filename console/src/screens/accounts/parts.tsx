import type { Answer } from '../../../../lambdas/wire/answers.ts';
import type { account } from '../../../../lambdas/wire/accountAnswers.ts';
import type { FormFields } from '../../ui/action.tsx';
import { Button, Card, Copy, DetailList, useSwitch } from '../../ui/basics.tsx';

export type Account = Answer<typeof account>;

export const firstFields = (of?: Account) =>
  ({
    customer_id: { label: 'Customer', value: of?.customer_id, autoFocus: true },
    type: {
      label: 'Plan',
      value: of?.type ?? 'paid',
      options: [
        ['paid', 'Paid'],
        ['free', 'Free'],
      ],
    },
    budget: {
      label: 'Budget',
      type: 'number',
      value: String(of?.budget ?? 0),
      hint: 'Dollars a month; 0 is no limit.',
    },
  }) satisfies FormFields<string>;

/** An account's new tokens, which are shown once. */
export function Tokens({ of }: { readonly of: Account }) {
  const [areKnown, know] = useSwitch();
  if (areKnown) return null;
  return (
    <Card
      title={`The tokens of ${of.customer_id ?? of.id}`}
      actions={<Button onClick={know}>I have copied them</Button>}
    >
      <p class="hint">Copy them now: the console does not show them again.</p>
      <DetailList
        of={[
          ['For all operations', <Token name="token" value={of.token} />],
          ['For read-only operations', <Token name="read-only token" value={of.read_only_token} />],
        ]}
      />
    </Card>
  );
}

const Token = ({ name, value }: { readonly name: string; readonly value: string }) => (
  <>
    <code>{value}</code> <Copy text={value} label={`Copy the ${name}`} />
  </>
);
