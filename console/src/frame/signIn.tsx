/** The sign-in page asks for a token, or for the credentials of the management API, and tries them. */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { accounts, ownStats } from '../../../lambdas/wire/accountAnswers.ts';
import { askAs, baseUrl } from '../api/client.ts';
import { apis, basic, signIn, whySignedOut, type Api } from '../session.ts';
import { FieldsOf, firstTexts, type FormFields } from '../ui/action.tsx';
import { Page } from '../ui/basics.tsx';
import { Form } from '../ui/dialog.tsx';

interface Credentials {
  readonly title: string;
  readonly fields: FormFields<string>;
  readonly authorizationOf: (texts: Readonly<Record<string, string>>) => string;
  readonly attempt: (authorization: string) => Promise<unknown>;
  readonly note?: ComponentChildren;
  readonly other: ComponentChildren;
}

const secret = { type: 'password', required: true, autoComplete: 'off' } as const;

const credentials: Readonly<Record<Api, Credentials>> = {
  messaging: {
    title: 'Sign in',
    fields: {
      token: {
        ...secret,
        label: 'Token',
        about: /./,
        autoFocus: true,
        hint: (
          <>
            An account’s token, or its read-only token. The local stage prints it as <code>SVC_TOKEN</code>.
            It stays in this tab, and in tabs that you open from it.
          </>
        ),
      },
    },
    // The user may have pasted the token with `Bearer`.
    authorizationOf: ({ token = '' }) => `Bearer ${token.trim().replace(/^Bearer\s+/i, '')}`,
    attempt: (authorization) => askAs(authorization, ownStats, { path: 'v2/stats' }),
    note: (
      <p class="hint">
        The API’s address is <code>{baseUrl}</code>
      </p>
    ),
    other: <a href="#/accounts">Sign in as the operator, to manage accounts</a>,
  },
  management: {
    title: 'Sign in as the operator',
    fields: {
      user: {
        ...secret,
        type: 'text',
        label: 'User',
        about: undefined,
        autoFocus: true,
        hint: (
          <>
            The local stage prints it as <code>SVC_MANAGEMENT_USER</code>; on AWS it is in the secret that the
            management stack names.
          </>
        ),
      },
      // The reason why the credentials are refused is shown under the last field.
      password: { ...secret, label: 'Password', about: /./ },
    },
    authorizationOf: ({ user = '', password = '' }) => basic(user, password),
    attempt: (authorization) =>
      askAs(authorization, accounts, { path: 'v2/svc/users', query: { count: 1 }, api: 'management' }),
    other: <a href="#/">Sign in with an account’s token</a>,
  },
};

export function SignIn({ api }: { readonly api: Api }) {
  const { title, fields, authorizationOf, attempt, note, other } = credentials[api];
  const why = whySignedOut();
  const [texts, setTexts] = useState(() => firstTexts(fields));
  const work = async (): Promise<undefined> => {
    const authorization = authorizationOf(texts);
    await attempt(authorization);
    signIn(api, authorization);
  };
  return (
    <main class="sign-in">
      <Page title={title}>
        {why !== undefined && (
          <p class="failure" role="alert">
            {why}
          </p>
        )}
        <Form class="card" work={work} yes="Sign in" end={(submit, error) => [error, submit, note]}>
          <FieldsOf fields={fields} texts={texts} onChange={setTexts} />
        </Form>
        {apis.length > 1 && <p class="hint">{other}</p>}
      </Page>
    </main>
  );
}
