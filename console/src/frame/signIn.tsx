/** The sign-in page asks for a token, or for the credentials of the management API, and tries them. */
import { useState } from 'preact/hooks';
import { accounts, ownStats } from '../../../lambdas/wire/accountAnswers.ts';
import { askAs, baseUrl } from '../api/client.ts';
import { useAction } from '../api/useAsked.ts';
import { apis, basic, signIn, whySignedOut, type Api } from '../session.ts';
import { Button, Page } from '../ui/basics.tsx';
import { TextField } from '../ui/fields.tsx';

export function SignIn({ api }: { readonly api: Api }) {
  const why = whySignedOut();
  return (
    <main class="sign-in">
      <Page title={api === 'messaging' ? 'Sign in' : 'Sign in as the operator'}>
        {why !== undefined && (
          <p class="failure" role="alert">
            {why}
          </p>
        )}
        {api === 'messaging' ? <TokenForm /> : <ManagementForm />}
        {apis.length > 1 && (
          <p class="hint">
            {api === 'messaging' ? (
              <a href="#/accounts">Sign in as the operator, to manage accounts</a>
            ) : (
              <a href="#/">Sign in with an account’s token</a>
            )}
          </p>
        )}
      </Page>
    </main>
  );
}

function TokenForm() {
  const [token, setToken] = useState('');
  const action = useAction();
  const submit = async (): Promise<undefined> => {
    // The user may have pasted the token with `Bearer`.
    const authorization = `Bearer ${token.trim().replace(/^Bearer\s+/i, '')}`;
    await askAs(authorization, ownStats, { path: 'v2/stats' });
    signIn('messaging', authorization);
  };
  return (
    <form
      class="card"
      onSubmit={(event) => {
        event.preventDefault();
        void action.run(submit);
      }}
    >
      <TextField
        label="Token"
        type="password"
        value={token}
        onInput={setToken}
        required
        autoFocus
        autoComplete="off"
        error={action.error}
        hint={
          <>
            An account’s token, or its read-only token. The local stage prints it as <code>SVC_TOKEN</code>.
            It stays in this tab, and in tabs that you open from it.
          </>
        }
      />
      <Button type="submit" kind="main" isBusy={action.isRunning}>
        Sign in
      </Button>
      <p class="hint">
        The API’s address is <code>{baseUrl}</code>
      </p>
    </form>
  );
}

function ManagementForm() {
  const [user, setUser] = useState('');
  const [password, setPassword] = useState('');
  const action = useAction();
  const submit = async (): Promise<undefined> => {
    const authorization = basic(user, password);
    await askAs(authorization, accounts, {
      path: 'v2/svc/users',
      query: { count: 1 },
      api: 'management',
    });
    signIn('management', authorization);
  };
  return (
    <form
      class="card"
      onSubmit={(event) => {
        event.preventDefault();
        void action.run(submit);
      }}
    >
      <TextField
        label="User"
        value={user}
        onInput={setUser}
        required
        autoFocus
        autoComplete="off"
        hint={
          <>
            The local stage prints it as <code>SVC_MANAGEMENT_USER</code>; on AWS it is in the secret that the
            management stack names.
          </>
        }
      />
      <TextField
        label="Password"
        type="password"
        value={password}
        onInput={setPassword}
        required
        autoComplete="off"
        error={action.error}
      />
      <Button type="submit" kind="main" isBusy={action.isRunning}>
        Sign in
      </Button>
    </form>
  );
}
