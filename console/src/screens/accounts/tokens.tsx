import { useState } from 'preact/hooks';
import type { Answer } from '../../../../lambdas/wire/answers.ts';
import { madeToken, namedTokens, type namedToken } from '../../../../lambdas/wire/accountAnswers.ts';
import { useMayWrite } from '../../access.ts';
import { ask, path } from '../../api/client.ts';
import { useAsked, type Asked } from '../../api/useAsked.ts';
import { href } from '../../place.ts';
import { ActionForm, Deletes } from '../../ui/action.tsx';
import { Loaded } from '../../ui/resourcePage.tsx';
import { Card, Cut, Empty, Secret } from '../../ui/basics.tsx';
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

interface TokensPlace {
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
  const mayWrite = useMayWrite();
  const [made, setMade] = useState<Made>();
  return (
    <Card
      title="Named tokens"
      actions={mayWrite && <MakeToken place={place} onMade={setMade} then={asked.again} />}
    >
      {made && (
        <Secret key={made.token} title={`The token ${made.name}`} text={made.token} copy="Copy the token" />
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
                { head: 'Name', text: ({ name }) => name },
                {
                  head: 'Id',
                  cell: ({ id, overlap_until: until }) => (
                    <>
                      <code>{id}</code>
                      {until !== undefined && (
                        <p class="hint">
                          its earlier secret expires <Time at={until * 1_000} />
                        </p>
                      )}
                    </>
                  ),
                },
                { head: 'Permissions', cell: (token) => <Scope of={token} /> },
                {
                  head: 'Expires',
                  cell: ({ expires_at: end }) => (end === undefined ? 'never' : <Time at={end * 1_000} />),
                },
                { head: 'Last used', cell: ({ last_used: day }) => day ?? 'never' },
                { head: 'Created', isExtra: true, time: ({ created_at: seconds }) => seconds * 1_000 },
                {
                  head: 'If it leaked',
                  cell: (token) => (
                    <div class="row">
                      {mayWrite && isFor(place, token.scope) && (
                        <>
                          <Rotate place={place} of={token} onMade={setMade} then={asked.again} />
                          <Revoke place={place} of={token} then={asked.again} />
                        </>
                      )}
                      {place === ownPlace && (
                        <a
                          href={href(['audit'], { actor: token.id })}
                          aria-label={`Its changes: ${token.name}`}
                        >
                          Its changes
                        </a>
                      )}
                    </div>
                  ),
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

interface RevokeProps {
  readonly place: TokensPlace;
  readonly of: Named;
  readonly then: () => void;
}

const Revoke = ({ place: { api, path }, of: { id, name }, then }: RevokeProps) => (
  <Deletes
    name="Revoke"
    kind="quiet"
    label={`Revoke ${name}`}
    title={`Revoke ${name}?`}
    yes="Revoke"
    effect="Requests that use it are refused from now on. This cannot be undone."
    request={{ api, path: `${path}/${id}` }}
    said="The token has been revoked."
    then={then}
  />
);

const Rotate = ({ place: { api, path }, of: { id, name }, onMade, then }: RevokeProps & MakeProps) => (
  <ActionForm
    name="Rotate…"
    kind="quiet"
    label={`Rotate ${name}`}
    title={`Rotate ${name}?`}
    yes="Rotate"
    isDangerous
    effect="It gets a new secret, and keeps its id and its rights. Messages that it published are still delivered."
    then={then}
    fields={{
      overlap: {
        label: 'The earlier secret expires',
        options: [
          ['0s', 'Now, because it leaked'],
          ['1h', 'In an hour'],
          ['24h', 'In a day'],
          ['7d', 'In a week'],
        ],
        value: '0s',
        hint: 'Until then both are accepted, so that programs can be given the new one.',
      },
    }}
    work={async (body) => {
      onMade(await ask(madeToken, { api, path: `${path}/${id}/rotate`, method: 'POST', body }));
      return 'The token is rotated.';
    }}
  />
);

interface MakeProps {
  readonly place: TokensPlace;
  readonly onMade: (token: Made) => void;
  readonly then: () => void;
}

const MakeToken = ({ place, onMade, then }: MakeProps) => (
  <ActionForm
    name="New token"
    title="New token"
    yes="Create"
    then={then}
    fields={{
      name: { label: 'Name', autoFocus: true, hint: 'The purpose of the token.' },
      scope: { label: 'Permissions', value: 'publish', options: scopes.filter(([one]) => isFor(place, one)) },
      destinations: {
        label: 'Destinations',
        rows: 3,
        isCode: true,
        isShown: ({ scope }) => scope === 'publish',
        placeholder: 'https://example.com/hooks/',
        hint: 'One per line: the beginning of a URL, group:name for a URL group, or queue:name for a queue. Leave empty to allow all.',
      },
      expires_at: { label: 'Expires', type: 'datetime-local', hint: 'Leave empty if it never expires.' },
    }}
    work={async ({ name, scope, destinations, expires_at: end }) => {
      const lines = destinations
        .split(/\s*\n\s*/)
        .map((line) => line.trim())
        .filter(Boolean);
      const body = {
        name,
        scope,
        destinations: scope === 'publish' && lines.length > 0 ? lines : undefined,
        expires_at: end === '' ? undefined : Math.floor(new Date(end).getTime() / 1_000),
      };
      onMade(await ask(madeToken, { ...place, method: 'POST', body }));
      return 'The token has been created.';
    }}
  />
);
