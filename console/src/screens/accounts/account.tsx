import { useState } from 'preact/hooks';
import { account, accountStats, testedCallback } from '../../../../lambdas/wire/accountAnswers.ts';
import { optionalForms, type OptionalField } from '../../../../lambdas/wire/accountFields.ts';
import { limitMeanings } from '../../../../lambdas/wire/limitMeanings.ts';
import { limitNames, limitTable, type LimitName } from '../../../../lambdas/value/limits.ts';
import { ask, path } from '../../api/client.ts';
import { isSettled, useAsked, useOnceTrue } from '../../api/useAsked.ts';
import { href } from '../../place.ts';
import { Act, ActionForm, Deletes, sends, type FormField } from '../../ui/action.tsx';
import { Loaded, ResourcePage } from '../../ui/resourcePage.tsx';
import { bytes, Card, countOf, Cut, DetailList, dollars, Loading, State } from '../../ui/basics.tsx';
import { Bars, Meter } from '../../ui/charts.tsx';
import { Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { firstFields, Tokens, type Account } from './parts.tsx';
import { NamedTokens, placeOf, useNamedTokens } from './tokens.tsx';

const api = 'management';

export function OneAccount({ id }: { readonly id: string }) {
  const [fresh, setFresh] = useState<Account>();
  return (
    <ResourcePage
      shape={account}
      api={api}
      path={path`v2/svc/users/${id}`}
      title={(of) => of?.customer_id ?? id}
      back={{ href: href(['accounts']), name: 'Accounts' }}
      actions={(of, then) =>
        of.state === 'deleted' ? (
          <Act
            name="Restore"
            work={sends({ api, path: path`v2/svc/users/${id}/restore` }, 'The account has been restored.')}
            then={then}
          />
        ) : (
          <Actions of={of} then={then} onTokens={setFresh} />
        )
      }
    >
      {(of) => (
        <>
          {fresh && <Tokens key={fresh.token} of={fresh} />}
          <Details of={of} />
        </>
      )}
    </ResourcePage>
  );
}

interface ActionsProps {
  readonly of: Account;
  readonly then: () => void;
  readonly onTokens: (account: Account) => void;
}

function Actions({ of, then, onTokens }: ActionsProps) {
  const at = path`v2/svc/users/${of.id}`;
  const becomes = (state: Account['state']) => ({ api, method: 'PATCH', path: at, body: { state } }) as const;
  return (
    <>
      <EditAccount of={of} then={then} />
      {of.state === 'active' ? (
        <ActionForm
          name="Suspend"
          title="Suspend the account?"
          yes="Suspend"
          isDangerous
          effect="Its tokens are refused, and its messages wait, until it is resumed."
          work={sends(becomes('passive'), 'The account has been suspended.')}
          then={then}
        />
      ) : (
        <Act name="Resume" work={sends(becomes('active'), 'The account is active again.')} then={then} />
      )}
      <ActionForm
        name="Reset tokens"
        title="Reset both tokens?"
        yes="Reset tokens"
        isDangerous
        effect="The token and the read-only token stop working now. Requests that use them are refused."
        work={async () => {
          const rotate = path`v2/svc/rotate-token/${of.id}`;
          onTokens(await ask(account, { api, method: 'POST', path: rotate }));
          return 'The account has new tokens.';
        }}
        then={then}
      />
      <Deletes
        name="Delete"
        title={`Delete ${of.customer_id ?? 'the account'}?`}
        yes="Delete the account"
        effect="Its tokens stop working now, and its messages and schedules stop. It can be restored for seven days; then its data is removed."
        request={{ api, path: at }}
        said="The account has been deleted."
        then={then}
      />
    </>
  );
}

async function testCallback(id: string): Promise<string> {
  const test = path`v2/svc/users/${id}/failure-callback/test`;
  const { status, error } = await ask(testedCallback, { api, method: 'POST', path: test });
  return error === undefined
    ? `The failure callback answered ${status}.`
    : `The failure callback did not answer: ${error}`;
}

function Details({ of }: { readonly of: Account }) {
  const asked = useAsked(accountStats, { api, path: path`v2/svc/stats/${of.id}` });
  const tokens = useNamedTokens(of);
  const isKnown = isSettled(asked) && (of.state === 'deleted' || isSettled(tokens));
  if (!useOnceTrue(isKnown)) return <Loading />;
  return (
    <>
      <Card>
        <DetailList
          of={[
            ['State', <State state={of.state} />],
            ['Id', <code>{of.id}</code>],
            ['Plan', of.type],
            ['Region', of.region],
            ['Created', <Time at={of.creation_time * 1_000} />],
            ['Created by', of.created_by],
            ['Deleted', of.deletion_time > 0 ? <Time at={of.deletion_time * 1_000} /> : undefined],
            [
              'Failure callback',
              of.failure_callback && (
                <>
                  <Cut text={of.failure_callback} />{' '}
                  {of.state !== 'deleted' && (
                    <Act name="Send a test" kind="quiet" work={() => testCallback(of.id)} />
                  )}
                </>
              ),
            ],
            ['Permanent failure statuses', of.fail_on],
            ['Destinations in AWS', of.destinations?.map((arn) => <div key={arn}>{arn}</div>)],
            ['Lambda destinations', of.lambda_destinations?.map((arn) => <div key={arn}>{arn}</div>)],
            ['TLS identities', of.tls_identities && tlsLines(of).map((line) => <div key={line}>{line}</div>)],
          ]}
        />
      </Card>
      <Loaded of={asked}>
        {(used) => (
          <Card title="Use">
            <div class="grid">
              <Meter
                label="Cost this month"
                value={used.total_monthly_billing}
                most={of.budget}
                show={dollars}
              />
              <Meter
                label="Messages sent today"
                value={used.daily_requests.at(-1)?.y ?? 0}
                most={of.max_requests_per_day_hard}
              />
              <Meter label="Messages this month" value={used.total_monthly_messages} />
              <Meter label="Bytes this month" value={used.total_monthly_bandwidth} show={bytes} />
            </div>
            <Bars
              title="Messages a day, UTC"
              names={used.daily_messages.map(({ x }) => x.slice(0, 10))}
              series={[{ name: 'messages', tone: 'busy', values: used.daily_messages.map(({ y }) => y) }]}
            />
          </Card>
        )}
      </Loaded>
      {of.state !== 'deleted' && <NamedTokens place={placeOf(of.id)} of={tokens} />}
      <Card title="Limits">
        <Table
          caption="Limits of the account"
          rows={limitNames}
          keyOf={(name) => name}
          isMarked={(name) => isOwn(of, name)}
          columns={[
            { head: 'Limit', cell: (name) => <code>{name}</code> },
            {
              head: 'Meaning',
              isWide: true,
              cell: (name) => <span class="wrapped">{limitMeanings[name]}</span>,
            },
            { head: 'Value', count: (name) => of[name] },
            { head: 'Plan default', count: (name) => limitTable[name][of.type] },
          ]}
        />
      </Card>
    </>
  );
}

const isOwn = (of: Account, name: LimitName): boolean => of[name] !== limitTable[name][of.type];

const tlsLines = (of: Account): readonly string[] =>
  (of.tls_identities ?? []).map(({ host, ...names }) =>
    [host, ...Object.entries(names).map(([name, value]) => `${name}=${value}`)].join(' '),
  );

/** Parses a line. Unknown words are sent as they are, and the API refuses them. */
function tlsIdentityOf(line: string): Readonly<Record<string, string>> {
  const [host = '', ...words] = line.split(/\s+/);
  const names = words.map((word): [string, string] => {
    const [name = '', value = ''] = word.split('=');
    return [name, value];
  });
  return { host, ...Object.fromEntries(names) };
}

function valueOf(name: string, text: string): unknown {
  if (name === 'customer_id' || name === 'type') return text;
  if (text === '') return null;
  if (name === 'tls_identities') return text.split(/\s*\n\s*/).map(tlsIdentityOf);
  const form = optionalForms.find(([one]) => one === name)?.[1];
  if (form === undefined || form.type === 'number') return Number(text);
  return form.rows === undefined ? text : text.split(/\s+/);
}

function textOf(of: Account, name: OptionalField): string {
  const value = name === 'tls_identities' ? tlsLines(of) : of[name];
  return Array.isArray(value) ? value.join('\n') : typeof value === 'object' ? '' : (value ?? '');
}

const EditAccount = ({ of, then }: { readonly of: Account; readonly then: () => void }) => (
  <ActionForm
    name="Edit"
    title="Edit the account"
    yes="Save"
    isWide
    isGrid
    then={then}
    fields={{
      ...firstFields(of),
      ...Object.fromEntries(
        optionalForms.map(([name, form]) => [name, { ...form, value: textOf(of, name) }]),
      ),
      ...Object.fromEntries(limitNames.map((name, place) => [name, limitField(of, name, place === 0)])),
    }}
    work={async (_texts, changed) => {
      const body = Object.fromEntries(changed.map(([name, text]) => [name, valueOf(name, text.trim())]));
      await ask(account, { api, method: 'PATCH', path: path`v2/svc/users/${of.id}`, body });
      return `${countOf(changed.length, 'field')} of the account changed.`;
    }}
  />
);

const limitField = (of: Account, name: LimitName, isFirst: boolean): FormField => ({
  label: name,
  type: 'number',
  value: isOwn(of, name) ? String(of[name]) : '',
  placeholder: String(limitTable[name][of.type]),
  hint: limitMeanings[name],
  ...(isFirst && { above: 'Leave a limit empty to use the plan’s.' }),
});
