import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { nothing } from '../../../lambdas/wire/answers.ts';
import { ask, type Request } from '../api/client.ts';
import { useAction, type Asked } from '../api/useAsked.ts';
import { Button, Failure, Loading } from './basics.tsx';

/** Sends a change whose answer is not shown. Default method: POST. */
export const change = async (request: Request): Promise<void> => {
  await ask(nothing, { method: 'POST', ...request });
};

interface ActProps {
  readonly request: Request;
  readonly said: string;
  readonly then: () => void;
  readonly kind?: 'plain' | 'quiet';
  /** The button's name for screen readers, if its text alone is unclear. */
  readonly label?: string | undefined;
  readonly children: ComponentChildren;
}

/** A button that changes something at once, because the change can be undone. */
export function Act({ request, said, then, kind = 'plain', label, children }: ActProps) {
  const action = useAction('toast');
  const work = async (): Promise<string> => {
    await change(request);
    then();
    return said;
  };
  return (
    <Button kind={kind} aria-label={label} isBusy={action.isRunning} onClick={() => void action.run(work)}>
      {children}
    </Button>
  );
}

interface OpensProps {
  readonly name: ComponentChildren;
  readonly kind?: 'plain' | 'main' | 'quiet';
  readonly label?: string | undefined;
  /** Whether the button is hidden, because there is nothing to do. An open dialogue stays open. */
  readonly isHidden?: boolean;
  readonly then?: () => void;
  readonly children: (close: (isDone: boolean) => void) => ComponentChildren;
}

export function Opens({ name, kind = 'plain', label, isHidden, then, children }: OpensProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      {isHidden !== true && (
        <Button
          kind={kind}
          aria-label={label}
          onClick={() => {
            setOpen(true);
          }}
        >
          {name}
        </Button>
      )}
      {isOpen &&
        children((isDone) => {
          setOpen(false);
          if (isDone) then?.();
        })}
    </>
  );
}

export function Loaded<T>({
  of: { answer, error, again },
  children,
}: {
  readonly of: Asked<T>;
  readonly children: (answer: T) => ComponentChildren;
}) {
  return (
    <>
      {error !== undefined && <Failure error={error} again={again} />}
      {answer !== undefined ? children(answer) : error === undefined && <Loading />}
    </>
  );
}
