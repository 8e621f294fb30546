import { signingKeys } from '../../../../lambdas/wire/accountAnswers.ts';
import { sends, ActionForm } from '../../ui/action.tsx';
import { ResourcePage } from '../../ui/resourcePage.tsx';
import { Button, Card, Copy, useSwitch } from '../../ui/basics.tsx';
import { OwnTokens } from '../accounts/tokens.tsx';

export const Keys = () => (
  <>
    <ResourcePage
      shape={signingKeys}
      path="v2/keys"
      title="Keys"
      actions={(_keys, again) => (
        <ActionForm
          name="Rotate…"
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
    <OwnTokens />
  </>
);

interface SecretProps {
  readonly name: string;
  readonly hint: string;
  readonly text: string;
}

/** A secret, shown on demand only, because someone may be watching the screen. */
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
