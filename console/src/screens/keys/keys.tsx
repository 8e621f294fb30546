/** The keys that sign deliveries, and the account's tokens. */
import { useState } from 'preact/hooks';
import { signingKeys } from '../../../../lambdas/wire/accountAnswers.ts';
import { useMayWrite } from '../../access.ts';
import { ask } from '../../api/client.ts';
import { useAsked } from '../../api/useAsked.ts';
import { Opens, Loaded } from '../../ui/act.tsx';
import { Button, Card, Copy, Page } from '../../ui/basics.tsx';
import { Confirm } from '../../ui/dialog.tsx';
import { OwnTokens } from '../accounts/tokens.tsx';

export function Keys() {
  const asked = useAsked(signingKeys, { path: 'v2/keys' });
  const mayWrite = useMayWrite();
  const rotate = async (): Promise<string> => {
    await ask(signingKeys, { method: 'POST', path: 'v2/keys/rotate' });
    return 'The signing keys are rotated.';
  };
  return (
    <Page
      title="Keys"
      actions={
        mayWrite && (
          <Opens name="Rotate…" then={asked.again}>
            {(onClose) => (
              <Confirm
                title="Rotate the signing keys?"
                yes="Rotate"
                isDangerous
                work={rotate}
                onClose={onClose}
              >
                <ol class="numbered">
                  <li>The current key is lost, and cannot be restored.</li>
                  <li>The next key becomes the current key, which signs deliveries from now on.</li>
                  <li>A new key becomes the next key.</li>
                </ol>
                <p>
                  Receivers that know both keys are not affected. Give them the new next key before you rotate
                  again: after two rotations they would know neither. Receivers that only know the current key
                  refuse deliveries from now on.
                </p>
              </Confirm>
            )}
          </Opens>
        )
      }
    >
      <Loaded of={asked}>
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
      </Loaded>
      <OwnTokens />
    </Page>
  );
}

/** A secret, shown on demand only, because someone may be watching the screen. */
function Secret({
  name,
  hint,
  text,
}: {
  readonly name: string;
  readonly hint: string;
  readonly text: string;
}) {
  const [isShown, setShown] = useState(false);
  return (
    <div class="secret">
      <div>
        <strong>{name}</strong>
        <p class="hint">{hint}</p>
        <code>{isShown ? text : '•'.repeat(24)}</code>
      </div>
      <div class="actions">
        <Button
          kind="quiet"
          aria-label={`${isShown ? 'Hide' : 'Show'} ${name}`}
          onClick={() => {
            setShown(!isShown);
          }}
        >
          {isShown ? 'Hide' : 'Show'}
        </Button>
        <Copy text={text} label={`Copy ${name}`} />
      </div>
    </div>
  );
}
