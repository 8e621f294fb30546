import { useState } from 'preact/hooks';
import { account, accounts, accountStats } from '../../../../lambdas/wire/accountAnswers.ts';
import { ask, path } from '../../api/client.ts';
import { useAsked } from '../../api/useAsked.ts';
import { ResourceList } from '../../lists/resourceList.tsx';
import { href, type Place } from '../../place.ts';
import { count, countOf, dollars } from '../../ui/basics.tsx';
import { exactTime } from '../../ui/time.tsx';
import { OneAccount } from './account.tsx';
import { ActionForm } from '../../ui/action.tsx';
import { firstFields, Tokens, type Account } from './parts.tsx';

/** Few, because each account's usage is a separate request. */
const pageLength = '25';

export function Accounts({ place }: { readonly place: Place }) {
  const [, id] = place.path;
  return id === undefined ? <AllAccounts place={place} /> : <OneAccount id={id} />;
}

const fields = [
  { name: 'search', label: 'Search', placeholder: 'name, e-mail or id', isMain: true },
] as const;

function AllAccounts({ place }: { readonly place: Place }) {
  const [made, setMade] = useState<Account>();
  return (
    <ResourceList
      title="Accounts"
      place={place}
      shape={accounts}
      api="management"
      path="v2/svc/users"
      fields={fields}
      query={{ count: pageLength }}
      rowsOf={(all) => all}
      // Loaded once, because the list contains the tokens of all accounts.
      everyMs={0}
      actions={({ again }) => <MakeAccount onMade={setMade} then={again} />}
      noMatch="No account matches."
      empty={['No accounts yet.']}
      caption="Accounts by region"
      keyOf={({ id }) => id}
      columns={[
        {
          head: 'Customer',
          text: ({ id, customer_id: customer }) => customer ?? id,
          to: ({ id }) => href(['accounts', id]),
        },
        { head: 'State', state: ({ state }) => state },
        { head: 'Plan', cell: ({ type }) => type },
        { head: 'Region', cell: ({ region }) => region },
        {
          head: 'This month, and today',
          isNumber: true,
          cell: ({ id, budget }) => <Used id={id} budget={budget} />,
        },
        { head: 'Created', time: ({ creation_time: seconds }) => seconds * 1_000 },
      ]}
    >
      {made && <Tokens key={made.token} of={made} />}
    </ResourceList>
  );
}

/** In milliseconds. The service counts failures and waiting messages once an hour. */
const usedEveryMs = 60_000;

function Used({ id, budget }: { readonly id: string; readonly budget: number }) {
  const request = { api: 'management', path: path`v2/svc/stats/${id}` } as const;
  const { answer, error } = useAsked(accountStats, request, usedEveryMs);
  if (answer === undefined)
    return <span title={error?.sentence}>{error === undefined ? '…' : 'not known'}</span>;
  const cost = dollars(answer.total_monthly_billing);
  const { failed_today: failed, waiting, counted_at: at } = answer;
  const counts = `${count(failed)} failed, ${count(waiting)} waiting`;
  return (
    <div>
      {budget === 0 ? cost : `${cost} of ${dollars(budget)}`}
      <div
        class="hint"
        title={at === undefined ? undefined : `Failures and waiting messages as of ${exactTime(at * 1_000)}`}
      >
        {countOf(answer.daily_messages.at(-1)?.y, 'message')}, {counts}
      </div>
    </div>
  );
}

interface MakeProps {
  readonly onMade: (account: Account) => void;
  readonly then: () => void;
}

function MakeAccount({ onMade, then }: MakeProps) {
  const { customer_id: customer, type, budget } = firstFields();
  return (
    <ActionForm
      name="New account"
      kind="main"
      title="New account"
      yes="Create"
      then={then}
      fields={{
        customer_id: { ...customer, hint: 'An e-mail address or a team.' },
        type: { ...type, hint: 'It sets the limits. Each can be changed.' },
        region: {
          label: 'Region',
          placeholder: 'eu-central-1',
          hint: 'Its region. Leave empty for the first region of the deployment.',
        },
        budget,
      }}
      work={async ({ customer_id, region, type, budget }) => {
        const given = { customer_id: customer_id || undefined, region: region || undefined };
        const body = { ...given, type, budget: Number(budget) };
        onMade(await ask(account, { api: 'management', method: 'POST', path: 'v2/svc/users', body }));
        return 'The account has been created.';
      }}
    />
  );
}
