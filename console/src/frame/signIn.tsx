/** The sign-in page asks for a token, or for the credentials of the management API, and tries them. */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { accounts, ownStats } from '../../../lambdas/wire/accountAnswers.ts';
import { askAs, baseUrl } from '../api/client.ts';
import { apis, basic, signIn, whySignedOut, type Api } from '../session.ts';
import { FieldsOf, firstTexts, type FormFields, type FormTexts } from '../ui/action.tsx';
import { Page } from '../ui/basics.tsx';
import { Form } from '../ui/dialog.tsx';

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

/** Tries the credentials, and signs in with them. */
async function signInWith(api: Api, authorization: string): Promise<undefined> {
  if (api === 'messaging') await askAs(authorization, ownStats, { path: 'v2/stats' });
  else await askAs(authorization, accounts, { path: 'v2/svc/users', query: { count: 1 }, api });
  signIn(api, authorization);
}

interface FormProps<Name extends string> {
  readonly fields: FormFields<Name>;
  readonly work: (texts: FormTexts<NoInfer<Name>>) => Promise<undefined>;
  readonly children?: ComponentChildren;
}

/** A form whose last field shows why the credentials are refused. */
function SignInForm<Name extends string>({ fields, work, children }: FormProps<Name>) {
  const [texts, setTexts] = useState(() => firstTexts(fields));
  return (
    <Form class="card" work={() => work(texts)} yes="Sign in" end={(submit) => [submit, children]}>
      <FieldsOf fields={fields} texts={texts} onChange={setTexts} />
    </Form>
  );
}

const TokenForm = () => (
  <SignInForm
    fields={{
      token: {
        label: 'Token',
        type: 'password',
        about: /./,
        required: true,
        autoFocus: true,
        autoComplete: 'off',
        hint: (
          <>
            An account’s token, or its read-only token. The local stage prints it as <code>SVC_TOKEN</code>.
            It stays in this tab, and in tabs that you open from it.
          </>
        ),
      },
    }}
    // The user may have pasted the token with `Bearer`.
    work={({ token }) => signInWith('messaging', `Bearer ${token.trim().replace(/^Bearer\s+/i, '')}`)}
  >
    <p class="hint">
      The API’s address is <code>{baseUrl}</code>
    </p>
  </SignInForm>
);

const ManagementForm = () => (
  <SignInForm
    fields={{
      user: {
        label: 'User',
        about: undefined,
        required: true,
        autoFocus: true,
        autoComplete: 'off',
        hint: (
          <>
            The local stage prints it as <code>SVC_MANAGEMENT_USER</code>; on AWS it is in the secret that the
            management stack names.
          </>
        ),
      },
      password: { label: 'Password', type: 'password', about: /./, required: true, autoComplete: 'off' },
    }}
    work={({ user, password }) => signInWith('management', basic(user, password))}
  />
);
