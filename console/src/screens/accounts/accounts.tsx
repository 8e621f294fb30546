import { useState } from 'preact/hooks';
import { type Answer } from '../../../../lambdas/wire/answers.ts';
import { account, accounts, accountStats } from '../../../../lambdas/wire/accountAnswers.ts';
import { ask, path, type Request } from '../../api/client.ts';
import { useAsked, usePages } from '../../api/useAsked.ts';
import { href, type Place } from '../../place.ts';
import { Opens } from '../../ui/act.tsx';
import { Cut, Empty, Page, State } from '../../ui/basics.tsx';
import { SelectField, TextField } from '../../ui/fields.tsx';
import { Confirm } from '../../ui/dialog.tsx';
import { Listed, Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { OneAccount } from './account.tsx';
import { dollars, Tokens } from './parts.tsx';

/** Accounts on a page. The number is small because each account's usage takes a request. */
const pageLength = 25;

export function Accounts({ place: { path: place } }: { readonly place: Place }) {
  const [, id] = place;
  return id === undefined ? <AllAccounts /> : <OneAccount id={id} />;
}

function AllAccounts() {
  const request: Request = { api: 'management', path: 'v2/svc/users', query: { count: pageLength } };
  // The list contains the tokens of all accounts, so it is loaded only once.
  const list = usePages(accounts, request, (all) => all, 0);
  const [made, setMade] = useState<Answer<typeof account>>();
  const make = (
    <Opens name="New account" kind="main" then={list.again}>
      {(close) => <MakeAccount onMade={setMade} onClose={close} />}
    </Opens>
  );
  return (
    <Page title="Accounts" actions={make}>
      {made && (
        <Tokens
          of={made}
          onClose={() => {
            setMade(undefined);
          }}
        />
      )}
      <Listed list={list} empty={<Empty title="No accounts yet." />}>
        {(all) => (
          <Table
            caption="Accounts by region"
            rows={all}
            keyOf={({ id }) => id}
            columns={[
              {
                head: 'Customer',
                isWide: true,
                cell: ({ id, customer_id: customer }) => (
                  <a href={href(['accounts', id])}>
                    <Cut text={customer ?? id} />
                  </a>
                ),
              },
              { head: 'State', cell: ({ state }) => <State state={state} /> },
              { head: 'Plan', cell: ({ type }) => type },
              { head: 'Region', cell: ({ region }) => region },
              {
                head: 'This month',
                isNumber: true,
                cell: ({ id, budget }) => <Used id={id} budget={budget} />,
              },
              { head: 'Made', cell: ({ creation_time: seconds }) => <Time at={seconds * 1_000} /> },
            ]}
          />
        )}
      </Listed>
    </Page>
  );
}

function Used({ id, budget }: { readonly id: string; readonly budget: number }) {
  const { answer, error } = useAsked(accountStats, { api: 'management', path: path`v2/svc/stats/${id}` });
  if (answer === undefined) return <span title={error}>{error === undefined ? '…' : 'not known'}</span>;
  const cost = dollars(answer.total_monthly_billing);
  return <>{budget === 0 ? cost : `${cost} of ${dollars(budget)}`}</>;
}

function MakeAccount({
  onMade,
  onClose,
}: {
  readonly onMade: (account: Answer<typeof accounts>[number]) => void;
  readonly onClose: (isDone: boolean) => void;
}) {
  const [customer, setCustomer] = useState('');
  const [type, setType] = useState('paid');
  const [region, setRegion] = useState('');
  const [budget, setBudget] = useState('0');
  const work = async (): Promise<string> => {
    const fields = {
      customer_id: customer === '' ? undefined : customer,
      region: region === '' ? undefined : region,
      type,
      budget: Number(budget),
    };
    onMade(await ask(account, { api: 'management', method: 'POST', path: 'v2/svc/users', body: fields }));
    return 'The account is made.';
  };
  return (
    <Confirm title="New account" yes="Create" work={work} onClose={onClose}>
      <TextField
        label="Customer"
        about="customer_id"
        value={customer}
        onInput={setCustomer}
        autoFocus
        hint="An e-mail address or a team."
      />
      <SelectField
        label="Plan"
        value={type}
        onInput={setType}
        options={[
          ['paid', 'Paid'],
          ['free', 'Free'],
        ]}
        hint="It sets the limits. Each can be changed."
      />
      <TextField
        label="Region"
        about="region"
        value={region}
        onInput={setRegion}
        placeholder="eu-central-1"
        hint="Its region. Leave empty for the first region of the deployment."
      />
      <TextField
        label="Budget"
        about="budget"
        type="number"
        value={budget}
        onInput={setBudget}
        hint="Dollars a month; 0 is no limit."
      />
    </Confirm>
  );
}
