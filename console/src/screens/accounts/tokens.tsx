/** The named tokens of an account, for the operator and for the account itself. */
import { useState } from 'preact/hooks';
import type { Answer } from '../../../../lambdas/wire/answers.ts';
import { madeToken, namedToken, namedTokens } from '../../../../lambdas/wire/accountAnswers.ts';
import { useMayWrite } from '../../access.ts';
import { ask, path } from '../../api/client.ts';
import { useAsked, type Asked } from '../../api/useAsked.ts';
import { Loaded, Opens } from '../../ui/act.tsx';
import { Card, Cut, Empty, Secret } from '../../ui/basics.tsx';
import { Confirm } from '../../ui/dialog.tsx';
import { SelectField, TextField } from '../../ui/fields.tsx';
import { Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import type { Account } from './parts.tsx';

type Named = Answer<typeof namedToken>;
type Made = Answer<typeof madeToken>;

const scopes = [
  ['full', 'Everything'],
  ['read', 'Read only'],
  ['publish', 'Publish only'],
] as const;

const nameOf = (scope: Named['scope']): string => scopes.find(([one]) => one === scope)?.[1] ?? scope;

export interface TokensPlace {
  readonly api: 'messaging' | 'management';
  readonly path: string;
}

/** An account can create and revoke tokens of every scope except `full`. */
const ownPlace: TokensPlace = { api: 'messaging', path: 'v2/tokens' };
const isFor = ({ api }: TokensPlace, scope: string): boolean => api === 'management' || scope !== 'full';

export const useNamedTokens = ({ id, state }: Account): Asked<readonly Named[]> =>
  useAsked(namedTokens, state === 'deleted' ? undefined : placeOf(id));

export const placeOf = (accountId: string): TokensPlace => ({
  api: 'management',
  path: path`v2/svc/users/${accountId}/tokens`,
});

export const OwnTokens = () => <NamedTokens place={ownPlace} of={useAsked(namedTokens, ownPlace)} />;

interface NamedTokensProps {
  readonly place: TokensPlace;
  readonly of: Asked<readonly Named[]>;
}

export function NamedTokens({ place, of: asked }: NamedTokensProps) {
  const mayWrite = useMayWrite() || place.api === 'management';
  const [made, setMade] = useState<Made>();
  const make = mayWrite && (
    <Opens name="New token" then={asked.again}>
      {(close) => <MakeToken place={place} onMade={setMade} onClose={close} />}
    </Opens>
  );
  return (
    <Card title="Named tokens" actions={make}>
      {made && (
        <Secret
          title={`The token ${made.name}`}
          text={made.token}
          copy="Copy the token"
          onClose={() => {
            setMade(undefined);
          }}
        />
      )}
      <Loaded of={asked}>
        {(all) =>
          all.length === 0 ? (
            <Empty title="No named tokens." />
          ) : (
            <Table
              caption="Named tokens of the account"
              rows={all}
              keyOf={({ id }) => id}
              columns={[
                { head: 'Name', isWide: true, cell: ({ name }) => <Cut text={name} /> },
                { head: 'Id', cell: ({ id }) => <code>{id}</code> },
                { head: 'May', cell: (token) => <Scope of={token} /> },
                {
                  head: 'Ends',
                  cell: ({ expires_at: end }) => (end === undefined ? 'never' : <Time at={end * 1_000} />),
                },
                { head: 'Last used', cell: ({ last_used: day }) => day ?? 'never' },
                {
                  head: 'Made',
                  isExtra: true,
                  cell: ({ created_at: seconds }) => <Time at={seconds * 1_000} />,
                },
                {
                  head: 'Revoke',
                  cell: (token) =>
                    mayWrite && isFor(place, token.scope) ? (
                      <Revoke place={place} of={token} then={asked.again} />
                    ) : undefined,
                },
              ]}
            />
          )
        }
      </Loaded>
    </Card>
  );
}

const Scope = ({ of: { scope, destinations } }: { readonly of: Named }) => (
  <>
    {nameOf(scope)}
    {destinations && (
      <span class="hint">
        {' '}
        to <Cut text={destinations.join(', ')} />
      </span>
    )}
  </>
);

function Revoke({
  place,
  of: { id, name },
  then,
}: {
  readonly place: TokensPlace;
  readonly of: Named;
  readonly then: () => void;
}) {
  return (
    <Opens name="Revoke" kind="quiet" label={`Revoke ${name}`} then={then}>
      {(onClose) => (
        <Confirm
          title={`Revoke ${name}?`}
          yes="Revoke"
          isDangerous
          onClose={onClose}
          work={async () => {
            await ask(namedToken, { ...place, method: 'DELETE', path: `${place.path}/${id}` });
            return 'The token is revoked.';
          }}
        >
          <p>Requests with it are refused from now on. This cannot be undone.</p>
        </Confirm>
      )}
    </Opens>
  );
}

const lines = (text: string): readonly string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');

function MakeToken({
  place,
  onMade,
  onClose,
}: {
  readonly place: TokensPlace;
  readonly onMade: (token: Made) => void;
  readonly onClose: (isDone: boolean) => void;
}) {
  const [name, setName] = useState('');
  const [scope, setScope] = useState('publish');
  const [destinations, setDestinations] = useState('');
  const [end, setEnd] = useState('');
  const work = async (): Promise<string> => {
    const body = {
      name,
      scope,
      destinations: scope === 'publish' && destinations.trim() !== '' ? lines(destinations) : undefined,
      expires_at: end === '' ? undefined : Math.floor(new Date(end).getTime() / 1_000),
    };
    onMade(await ask(madeToken, { ...place, method: 'POST', body }));
    return 'The token is made.';
  };
  return (
    <Confirm title="New token" yes="Create" work={work} onClose={onClose}>
      <TextField label="Name" about="name" value={name} onInput={setName} autoFocus hint="What it is for." />
      <SelectField
        label="It may do"
        value={scope}
        onInput={setScope}
        options={scopes.filter(([one]) => isFor(place, one))}
      />
      {scope === 'publish' && (
        <TextField
          label="Destinations"
          about="destinations"
          value={destinations}
          onInput={setDestinations}
          rows={3}
          isCode
          placeholder="https://example.com/hooks/"
          hint="One per line: the beginning of a URL, group:name for a URL group, or queue:name for a queue. Empty for all."
        />
      )}
      <TextField
        label="Ends"
        about="expires_at"
        type="datetime-local"
        value={end}
        onInput={setEnd}
        hint="Empty for never."
      />
    </Confirm>
  );
}
