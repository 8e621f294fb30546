import { useState } from 'preact/hooks';
import { ownTokens, signingKeys } from '../../../../lambdas/wire/accountAnswers.ts';
import type { Answer } from '../../../../lambdas/wire/answers.ts';
import { useMayWrite } from '../../access.ts';
import { ask } from '../../api/client.ts';
import { href } from '../../place.ts';
import { signIn } from '../../session.ts';
import { sends, ActionForm } from '../../ui/action.tsx';
import { ResourcePage } from '../../ui/resourcePage.tsx';
import { Button, Card, Copy, Secret as NewSecret, useSwitch } from '../../ui/basics.tsx';
import { OwnTokens } from '../accounts/tokens.tsx';

export const Keys = () => (
  <>
    <ResourcePage
      shape={signingKeys}
      path="v2/keys"
      title="Keys"
      actions={(_keys, again) => (
        <ActionForm
          name="Rotate signing keys…"
          title="Rotate the signing keys?"
          yes="Rotate"
          isDangerous
          effect="Receivers that know both keys are not affected. Give them the new next key before you rotate again: after two rotations they would know neither. Receivers that only know the current key refuse deliveries from now on."
          work={sends({ path: 'v2/keys/rotate' }, 'The signing keys have been rotated.')}
          then={again}
        >
          <ol class="numbered">
            <li>The current key is discarded and cannot be restored.</li>
            <li>The next key becomes the current key, which signs deliveries from now on.</li>
            <li>A new key becomes the next key.</li>
          </ol>
        </ActionForm>
      )}
    >
      {({ current, next }) => (
        <Card title="Signing keys">
          <p class="hint">
            Each delivery has a signature. A receiver that checks it with both keys still recognizes
            deliveries after a rotation.
          </p>
          <Secret name="Current key" hint="Deliveries are signed with it." text={current} />
          <Secret name="Next key" hint="It is the current key after the next rotation." text={next} />
        </Card>
      )}
    </ResourcePage>
    <OwnToken />
    <OwnTokens />
  </>
);

/** The tokens after they were rotated. The page is drawn again with the new token, and must show them. */
let justMade: Answer<typeof ownTokens> | undefined;
const takeJustMade = (): typeof justMade => {
  const made = justMade;
  justMade = undefined;
  return made;
};

function OwnToken() {
  const mayWrite = useMayWrite();
  const [made] = useState(takeJustMade);
  return (
    <Card
      title="The account’s token"
      actions={
        mayWrite && (
          <ActionForm
            name="Rotate the token…"
            title="Rotate the account’s token?"
            yes="Rotate"
            isDangerous
            effect="The account’s token and its read-only token end now, without an overlap, and you get two new ones. Programs that use the old ones are refused until they have the new ones."
            work={async () => {
              justMade = await ask(ownTokens, { method: 'POST', path: 'v2/tokens/rotate' });
              signIn('messaging', `Bearer ${justMade.token}`);
              return 'The account has new tokens.';
            }}
          />
        )
      }
    >
      {made && (
        <>
          <NewSecret title="The account’s token" text={made.token} copy="Copy the token" />
          <NewSecret title="The read-only token" text={made.readOnlyToken} copy="Copy the read-only token" />
        </>
      )}
      <p class="hint">
        The token has full access. If it leaked, rotate it: the old token is refused from the next request on.
        Named tokens keep working, even those that were created with it, so revoke those that you do not know.
        Accepted messages are still delivered, schedules fire, and signing keys stay. The holder of the token
        could read the signing keys, so rotate these as well, twice.
      </p>
      <p>
        <a href={href(['audit'], { actor: 'token' })}>Changes made with the token</a>, and{' '}
        <a href={href(['audit'], { action: 'token.create' })}>tokens that were created</a>
      </p>
    </Card>
  );
}

interface SecretProps {
  readonly name: string;
  readonly hint: string;
  readonly text: string;
}

/** A secret that is shown on demand, because others may see the screen. */
function Secret({ name, hint, text }: SecretProps) {
  const [isShown, turn] = useSwitch();
  return (
    <div class="secret row spread">
      <div>
        <strong>{name}</strong>
        <p class="hint">{hint}</p>
        <code>{isShown ? text : '•'.repeat(24)}</code>
      </div>
      <div class="row">
        <Button kind="quiet" aria-label={`${isShown ? 'Hide' : 'Show'} ${name}`} onClick={turn}>
          {isShown ? 'Hide' : 'Show'}
        </Button>
        <Copy text={text} label={`Copy ${name}`} />
      </div>
    </div>
  );
}
