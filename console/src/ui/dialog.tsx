/** Dialogues: the browser's own, which keep the focus and close with Escape. */
import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';
import { type Action, useAction } from '../api/useAsked.ts';
import { Button, Visible } from './basics.tsx';
import { Refused, useRefusal } from './fields.tsx';

interface DialogProps {
  readonly title: string;
  readonly onClose: () => void;
  readonly isWide?: boolean;
  readonly children: ComponentChildren;
}

/** Opens when it is rendered, and closes when it no longer is. */
export function Dialog({ title, onClose, isWide = false, children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    const opened = dialog.current;
    opened?.showModal();
    return () => {
      opened?.close();
    };
  }, []);
  return (
    <dialog
      ref={dialog}
      class={isWide ? 'wide' : ''}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
    >
      <header class="dialog-head">
        <h2 id={id}>
          <Visible text={title} />
        </h2>
        <Button kind="quiet" aria-label="Close" onClick={onClose}>
          ✕
        </Button>
      </header>
      {children}
    </dialog>
  );
}

interface ConfirmProps {
  readonly title: string;
  /** Describes the effect, and the number of things. */
  readonly children: ComponentChildren;
  /** The text of the button that confirms. */
  readonly yes: string;
  readonly isDangerous?: boolean;
  readonly isWide?: boolean;
  /** False while the effect is not known yet. */
  readonly isReady?: boolean;
  /** Does the work, and returns the sentence about it; undefined if the work has told it. */
  readonly work: () => Promise<string | undefined>;
  /** Stops the work, if that is possible. */
  readonly onStop?: () => void;
  readonly onClose: (isDone: boolean) => void;
}

/** Asks before a change: whether to do it, or with which values. */
export function Confirm({
  title,
  children,
  yes,
  isDangerous = false,
  isWide = false,
  isReady = true,
  work,
  onStop,
  onClose,
}: ConfirmProps) {
  const action = useAction();
  const { form, refused, atEnd } = useRefusal(action.error);
  const close = (): void => {
    if (action.isRunning) onStop?.();
    else onClose(false);
  };
  return (
    <Dialog title={title} onClose={close} isWide={isWide}>
      <form
        ref={form}
        onSubmit={(event) => {
          event.preventDefault();
          void action.run(work).then((isDone) => {
            if (isDone) onClose(true);
          });
        }}
      >
        <Refused.Provider value={refused}>{children}</Refused.Provider>
        <DialogEnd
          action={action}
          error={atEnd}
          onClose={close}
          yes={yes}
          isReady={isReady}
          isDangerous={isDangerous}
          isStoppable={onStop !== undefined}
        />
      </form>
    </Dialog>
  );
}

interface DialogEndProps {
  readonly action: Action;
  /** The reason of a failure that no field shows. */
  readonly error: string | undefined;
  readonly onClose: () => void;
  readonly yes: string;
  readonly isReady?: boolean;
  readonly isDangerous?: boolean;
  /** Whether closing the dialogue stops the work. */
  readonly isStoppable?: boolean;
}

/** Names the button that goes back: beside “Cancel 3 messages” the button “Cancel” would be ambiguous. */
const backFrom = (yes: string): string => (yes.startsWith('Cancel') ? 'Back' : 'Cancel');

/** The end of a dialogue's form: the reason of a failure, and its two buttons. */
function DialogEnd({
  action,
  error,
  onClose,
  yes,
  isReady = true,
  isDangerous = false,
  isStoppable = false,
}: DialogEndProps) {
  return (
    <>
      {error !== undefined && (
        <p class="wrong" role="alert">
          {error}
        </p>
      )}
      <footer class="dialog-end">
        <Button onClick={onClose} disabled={action.isRunning && !isStoppable}>
          {action.isRunning && isStoppable ? 'Stop' : backFrom(yes)}
        </Button>
        <Button
          type="submit"
          kind={isDangerous ? 'danger' : 'main'}
          isBusy={action.isRunning}
          disabled={!isReady}
        >
          {yes}
        </Button>
      </footer>
    </>
  );
}
