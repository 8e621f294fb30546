import type { ComponentChildren } from 'preact';
import { useEffect, useId, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { type Action, useAction, type Work } from '../api/useAsked.ts';
import { Button, Visible } from './basics.tsx';
import { Explained } from './explained.tsx';
import { Refused } from './fields.tsx';

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
      <header class="row spread">
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

export interface ConfirmProps {
  readonly title: string;
  /** Says what will happen, and to how many things. */
  readonly children?: ComponentChildren | ((isRunning: boolean) => ComponentChildren);
  readonly yes: string;
  readonly isDangerous?: boolean;
  readonly isWide?: boolean;
  /** False until it is known what will happen. */
  readonly isReady?: boolean;
  readonly work: Work;
  /** Stops the work; undefined if it cannot be stopped. */
  readonly onStop?: () => void;
  readonly onClose: (isDone: boolean) => void;
}

/** The name of the button that goes back. “Cancel” would be ambiguous beside “Cancel 3 messages”. */
const backFrom = (yes: string): string => (yes.startsWith('Cancel') ? 'Back' : 'Cancel');

export function Confirm({ title, isWide = false, onStop, onClose, children, ...form }: ConfirmProps) {
  const action = useAction();
  const { isRunning } = action;
  const close = (): void => {
    if (isRunning) onStop?.();
    else onClose(false);
  };
  return (
    <Dialog title={title} onClose={close} isWide={isWide}>
      <Form
        {...form}
        action={action}
        then={() => {
          onClose(true);
        }}
        end={(submit, error) => (
          <>
            {error}
            <footer class="row end">
              <Button onClick={close} disabled={isRunning && onStop === undefined}>
                {isRunning && onStop !== undefined ? 'Stop' : backFrom(form.yes)}
              </Button>
              {submit}
            </footer>
          </>
        )}
      >
        {typeof children === 'function' ? children(isRunning) : children}
      </Form>
    </Dialog>
  );
}

interface FormProps {
  /** Set if the parent shows whether the work is running. */
  readonly action?: Action;
  readonly work: Work;
  readonly then?: (() => void) | undefined;
  readonly class?: string;
  /** Whether the browser checks nothing, because the API explains mistakes better. */
  readonly noValidate?: boolean;
  readonly yes: string;
  readonly isDangerous?: boolean;
  readonly isReady?: boolean;
  /** The end of the form, with an error that is about no field. */
  readonly end: (submit: ComponentChildren, error: ComponentChildren) => ComponentChildren;
  readonly children?: ComponentChildren;
}

/**
 * A form that does its work when it is submitted. An error is shown under its field, which is focused, or at
 * the end.
 */
export function Form({ action, work, then, yes, isDangerous, isReady = true, end, ...rest }: FormProps) {
  const { children, ...attributes } = rest;
  const own = useAction();
  const { error, isRunning, run } = action ?? own;
  const form = useRef<HTMLFormElement>(null);
  const [isForgotten, setForgotten] = useState(false);
  const [isUnderField, setUnderField] = useState(false);
  // Whichever is drawn last, the form or the fields, finds the wrong field.
  const find = (): void => {
    const wrong = form.current?.querySelector<HTMLElement>('[aria-invalid="true"]');
    setUnderField(error !== undefined && Boolean(wrong));
    if (error !== undefined) wrong?.focus();
  };
  useLayoutEffect(() => {
    setForgotten(false);
    find();
  }, [error]);
  const problem = isForgotten ? undefined : error;
  const forget = (): void => {
    setForgotten(true);
  };
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    if (await run(work)) then?.();
  };
  return (
    <form ref={form} {...attributes} onSubmit={(event) => void submit(event)}>
      <Refused.Provider value={{ sentence: problem?.sentence, forget, find }}>{children}</Refused.Provider>
      {end(
        <Button
          type="submit"
          kind={isDangerous === true ? 'danger' : 'main'}
          isBusy={isRunning}
          disabled={!isReady}
        >
          {yes}
        </Button>,
        problem !== undefined && !isUnderField && (
          <p class="wrong" role="alert">
            <Explained error={problem} />
          </p>
        ),
      )}
    </form>
  );
}
