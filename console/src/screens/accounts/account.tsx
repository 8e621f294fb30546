import { useState } from 'preact/hooks';
import { account, accountStats } from '../../../../lambdas/wire/accountAnswers.ts';
import { limitMeanings } from '../../../../lambdas/wire/limitMeanings.ts';
import { limitNames, limitTable, type LimitName } from '../../../../lambdas/value/limits.ts';
import { ask, path, type Request } from '../../api/client.ts';
import { isSettled, useAsked, useOnceTrue } from '../../api/useAsked.ts';
import { href } from '../../place.ts';
import { Act, Opens, Loaded } from '../../ui/act.tsx';
import { bytes, Card, count, countOf, Cut, DetailList, Loading, Page, State } from '../../ui/basics.tsx';
import { SelectField, TextField } from '../../ui/fields.tsx';
import { Bars, Meter } from '../../ui/charts.tsx';
import { Confirm } from '../../ui/dialog.tsx';
import { Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { TestCallback } from './failureCallback.tsx';
import { dollars, Tokens, type Account } from './parts.tsx';
import { NamedTokens, placeOf, useNamedTokens } from './tokens.tsx';

const management = (request: Request): Request => ({ api: 'management', ...request });

export function OneAccount({ id }: { readonly id: string }) {
  const asked = useAsked(account, management({ path: path`v2/svc/users/${id}` }));
  const { answer: of, again: then } = asked;
  const [fresh, setFresh] = useState<Account>();
  return (
    <Page
      title={of?.customer_id ?? id}
      back={{ href: href(['accounts']), name: 'Accounts' }}
      actions={of && of.state !== 'deleted' && <Actions of={of} then={then} onTokens={setFresh} />}
    >
      {fresh && (
        <Tokens
          of={fresh}
          onClose={() => {
            setFresh(undefined);
          }}
        />
      )}
      <Loaded of={asked}>{(of) => <Details of={of} />}</Loaded>
    </Page>
  );
}

interface ActionsProps {
  readonly of: Account;
  readonly then: () => void;
  readonly onTokens: (account: Account) => void;
}

function Actions({ of, then, onTokens }: ActionsProps) {
  const at = path`v2/svc/users/${of.id}`;
  const isActive = of.state === 'active';
  return (
    <>
      <Opens name="Edit" then={then}>
        {(close) => <EditAccount of={of} onClose={close} />}
      </Opens>
      {isActive ? (
        <Opens name="Suspend" then={then}>
          {(onClose) => (
            <Confirm
              title="Suspend the account?"
              yes="Suspend"
              isDangerous
              onClose={onClose}
              work={async () => {
                await ask(account, management({ method: 'PATCH', path: at, body: { state: 'passive' } }));
                return 'The account is suspended.';
              }}
            >
              <p>Its tokens are refused, and its messages wait, until it is resumed.</p>
            </Confirm>
          )}
        </Opens>
      ) : (
        <Act
          request={management({ method: 'PATCH', path: at, body: { state: 'active' } })}
          said="The account is active again."
          then={then}
        >
          Resume
        </Act>
      )}
      <Opens name="Reset tokens" then={then}>
        {(onClose) => (
          <Confirm
            title="Reset both tokens?"
            yes="Reset tokens"
            isDangerous
            onClose={onClose}
            work={async () => {
              const request = { method: 'POST', path: path`v2/svc/rotate-token/${of.id}` } as const;
              onTokens(await ask(account, management(request)));
              return 'The account has new tokens.';
            }}
          >
            <p>The token and the read-only token end now. Requests with them are refused.</p>
          </Confirm>
        )}
      </Opens>
      <Opens name="Delete" then={then}>
        {(onClose) => (
          <Confirm
            title={`Delete ${of.customer_id ?? 'the account'}?`}
            yes="Delete the account"
            isDangerous
            onClose={onClose}
            work={async () => {
              await ask(account, management({ method: 'DELETE', path: at }));
              return 'The account is deleted.';
            }}
          >
            <p>
              Its tokens end now, its messages and schedules stop, and its data expires. This cannot be
              undone.
            </p>
          </Confirm>
        )}
      </Opens>
    </>
  );
}

function Details({ of }: { readonly of: Account }) {
  const asked = useAsked(accountStats, management({ path: path`v2/svc/stats/${of.id}` }));
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
            ['Made', <Time at={of.creation_time * 1_000} />],
            ['Made by', of.created_by],
            ['Deleted', of.deletion_time > 0 ? <Time at={of.deletion_time * 1_000} /> : undefined],
            [
              'Failure callback',
              of.failure_callback && (
                <>
                  <Cut text={of.failure_callback} /> {of.state !== 'deleted' && <TestCallback id={of.id} />}
                </>
              ),
            ],
            ['Fails at once on', of.fail_on],
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
            { head: 'Value', isNumber: true, cell: (name) => count(of[name]) },
            { head: 'Of the plan', isNumber: true, cell: (name) => count(limitTable[name][of.type]) },
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

/** Parses a line. The API refuses unknown words. */
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
  if (name === 'failure_callback' || name === 'fail_on') return text;
  if (name === 'tls_identities') return text.split(/\s*\n\s*/).map(tlsIdentityOf);
  return name === 'destinations' || name === 'lambda_destinations' ? text.split(/\s+/) : Number(text);
}

function EditAccount({ of, onClose }: { readonly of: Account; readonly onClose: (isDone: boolean) => void }) {
  const before: Readonly<Record<string, string>> = {
    customer_id: of.customer_id ?? '',
    type: of.type,
    budget: String(of.budget),
    failure_callback: of.failure_callback ?? '',
    fail_on: of.fail_on ?? '',
    destinations: of.destinations?.join('\n') ?? '',
    lambda_destinations: of.lambda_destinations?.join('\n') ?? '',
    tls_identities: tlsLines(of).join('\n'),
    ...Object.fromEntries(limitNames.map((name) => [name, isOwn(of, name) ? String(of[name]) : ''])),
  };
  const [fields, setFields] = useState(before);
  const bind = (name: string) => ({
    about: name,
    value: fields[name] ?? '',
    onInput: (value: string) => {
      setFields({ ...fields, [name]: value });
    },
  });
  const work = async (): Promise<string> => {
    const changed = Object.entries(fields).filter(([name, value]) => value !== before[name]);
    const body = Object.fromEntries(changed.map(([name, value]) => [name, valueOf(name, value.trim())]));
    await ask(account, management({ method: 'PATCH', path: path`v2/svc/users/${of.id}`, body }));
    return `${countOf(changed.length, 'field')} of the account changed.`;
  };
  return (
    <Confirm title="Edit the account" yes="Save" isWide work={work} onClose={onClose}>
      <div class="fields">
        <TextField label="Customer" {...bind('customer_id')} autoFocus />
        <SelectField
          label="Plan"
          {...bind('type')}
          options={[
            ['paid', 'Paid'],
            ['free', 'Free'],
          ]}
        />
        <TextField label="Budget" type="number" {...bind('budget')} hint="Dollars a month; 0 is no limit." />
        <TextField
          label="Failure callback"
          type="url"
          {...bind('failure_callback')}
          placeholder="https://example.com/failed"
          hint="Gets the permanent failures of messages without a failure callback."
        />
        <TextField
          label="Fail at once on"
          {...bind('fail_on')}
          placeholder="400-499,!408,!429"
          hint="Statuses that are not retried, unless a message says otherwise."
        />
        <TextField
          label="Destinations in AWS"
          rows={2}
          isCode
          {...bind('destinations')}
          placeholder="arn:aws:sqs:eu-central-1:123456789012:orders-*"
          hint="Queues, topics, buses and functions that messages may go to, one per line; * means any characters. The deployment must allow them too."
        />
        <TextField
          label="Lambda destinations"
          rows={2}
          isCode
          {...bind('lambda_destinations')}
          placeholder="arn:aws:lambda:eu-central-1:123456789012:function:orders-*"
          hint="More functions that messages may go to, one per line."
        />
        <TextField
          label="TLS identities"
          rows={2}
          isCode
          {...bind('tls_identities')}
          placeholder="hooks.example.com ca=private identity=acme"
          hint="One host per line (* for all others) with the names of certificates: its authority’s as ca, this account’s as identity."
        />
      </div>
      <p class="hint">Leave a limit empty to use the plan’s.</p>
      <div class="fields">
        {limitNames.map((name) => (
          <TextField
            key={name}
            label={name}
            type="number"
            {...bind(name)}
            placeholder={String(limitTable[name][of.type])}
            hint={limitMeanings[name]}
          />
        ))}
      </div>
    </Confirm>
  );
}
