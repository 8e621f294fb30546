import type { Answer } from '../../../../lambdas/wire/answers.ts';
import type { account } from '../../../../lambdas/wire/accountAnswers.ts';
import { Button, Card, Copy, DetailList } from '../../ui/basics.tsx';

export type Account = Answer<typeof account>;

const amounts = new Intl.NumberFormat('en', { style: 'currency', currency: 'USD' });
export const dollars = (amount: number): string => amounts.format(amount);

/** New tokens of an account. They are not shown again. */
export function Tokens({ of, onClose }: { readonly of: Account; readonly onClose: () => void }) {
  return (
    <Card
      title={`The tokens of ${of.customer_id ?? of.id}`}
      actions={<Button onClick={onClose}>I have them</Button>}
    >
      <p class="hint">Copy them now: the console does not show them again.</p>
      <DetailList
        of={[
          ['For all operations', <Token name="token" value={of.token} />],
          ['For operations that change nothing', <Token name="read-only token" value={of.read_only_token} />],
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
