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

/** The dialogue is open while it is rendered. */
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
  /** Describes the effect, and how many things it concerns. */
  readonly children: ComponentChildren;
  readonly yes: string;
  readonly isDangerous?: boolean;
  readonly isWide?: boolean;
  /** False until the effect is known. */
  readonly isReady?: boolean;
  /** Does the work. Returns a sentence that reports it, or undefined if the work has already reported it. */
  readonly work: () => Promise<string | undefined>;
  readonly onStop?: () => void;
  readonly onClose: (isDone: boolean) => void;
}

/** Asks for confirmation, and for values, before a change. */
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
  /** Why the form failed, if no field shows it. */
  readonly error: string | undefined;
  readonly onClose: () => void;
  readonly yes: string;
  readonly isReady?: boolean;
  readonly isDangerous?: boolean;
  /** Whether closing the dialogue stops the work. */
  readonly isStoppable?: boolean;
}

/** Names the button that goes back. “Cancel” would be ambiguous beside “Cancel 3 messages”. */
const backFrom = (yes: string): string => (yes.startsWith('Cancel') ? 'Back' : 'Cancel');

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
