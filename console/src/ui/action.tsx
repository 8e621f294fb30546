/**
 * Buttons that change something, directly or after a dialogue, and forms that are described by their fields.
 */
import { Fragment, type ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { nothing } from '../../../lambdas/wire/answers.ts';
import { ask, type Request } from '../api/client.ts';
import { useAction, type Work } from '../api/useAsked.ts';
import { go } from '../place.ts';
import { Button } from './basics.tsx';
import { Confirm, type ConfirmProps } from './dialog.tsx';
import { Field, type FieldProps } from './fields.tsx';

/** Sends a change whose answer is not shown. Default method: POST. */
export const change = async (request: Request): Promise<void> => {
  await ask(nothing, { method: 'POST', ...request });
};

/** Sends a change, and then shows a sentence. */
export const sends =
  (request: Request, said: string): Work =>
  async () => {
    await change(request);
    return said;
  };

interface ActionButton {
  readonly name: ComponentChildren;
  readonly kind?: 'plain' | 'main' | 'quiet';
  /** The name for screen readers, if the text alone is unclear. */
  readonly label?: string | undefined;
  readonly then?: () => void;
}

/** A button that changes something without asking, because it can be undone. */
export function Act({ name, kind, label, then, work }: ActionButton & { readonly work: Work }) {
  const action = useAction('toast');
  const run = async (): Promise<void> => {
    if (await action.run(work)) then?.();
  };
  return (
    <Button kind={kind} aria-label={label} isBusy={action.isRunning} onClick={() => void run()}>
      {name}
    </Button>
  );
}

export interface OpensProps extends ActionButton {
  /** Whether the button is hidden because there is nothing to do. A dialogue that is open stays open. */
  readonly isHidden?: boolean | undefined;
  readonly children: (close: (isDone: boolean) => void) => ComponentChildren;
}

export function Opens({ name, kind, label, isHidden, then, children }: OpensProps) {
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

export interface FormField extends Omit<FieldProps, 'value' | 'onInput'> {
  /** The initial text. Default: empty. */
  readonly value?: string | undefined;
  readonly above?: string;
  readonly isShown?: (texts: Readonly<Record<string, string>>) => boolean;
}

/** Fields by the names that the API's errors use. */
export type FormFields<Name extends string> = Readonly<Record<Name, FormField>>;
export type FormTexts<Name extends string> = Readonly<Record<Name, string>>;

export const firstTexts = <Name extends string>(fields: FormFields<Name>): FormTexts<Name> =>
  Object.fromEntries(
    Object.entries<FormField>(fields).map(([name, { value = '' }]) => [name, value]),
  ) as FormTexts<Name>;

interface FieldsOfProps<Name extends string> {
  readonly fields: FormFields<Name>;
  readonly only?: readonly NoInfer<Name>[];
  readonly texts: FormTexts<NoInfer<Name>>;
  readonly onChange: (changed: FormTexts<NoInfer<Name>>) => void;
}

export function FieldsOf<Name extends string>({ fields, only, texts, onChange }: FieldsOfProps<Name>) {
  const all: Readonly<Record<string, string>> = texts;
  return (
    <>
      {Object.entries<FormField>(fields).map(([name, { isShown, above, ...field }]) =>
        isShown?.(texts) === false || only?.some((one) => one === name) === false ? null : (
          <Fragment key={name}>
            {above !== undefined && <p class="hint">{above}</p>}
            <Field
              about={name}
              {...field}
              value={all[name] ?? ''}
              onInput={(text) => {
                onChange({ ...texts, [name]: text });
              }}
            />
          </Fragment>
        ),
      )}
    </>
  );
}

export interface SettingsProps {
  readonly texts: Readonly<Record<string, string>>;
  readonly onChange: (texts: Readonly<Record<string, string>>) => void;
}

interface FormProps<Name extends string> extends Omit<ConfirmProps, 'work' | 'isReady' | 'onClose'> {
  readonly effect?: ComponentChildren;
  readonly fields?: FormFields<Name>;
  /** More fields, whose texts are also compared. */
  readonly more?: (props: SettingsProps) => ComponentChildren;
  readonly isGrid?: boolean;
  /** Whether the texts can be sent. Default: always. */
  readonly isReady?: (texts: FormTexts<NoInfer<Name>>) => boolean;
  /** @param changed the texts that differ from the initial ones */
  readonly work: (
    texts: FormTexts<NoInfer<Name>>,
    changed: readonly (readonly [name: string, text: string])[],
  ) => ReturnType<Work>;
}

interface ActionFormProps<Name extends string> extends FormProps<Name>, ActionButton {
  readonly leadsTo?: string;
}

/** A button that asks for confirmation, and for the values of fields, before it changes something. */
export function ActionForm<Name extends string = never>({
  name,
  kind,
  label,
  then,
  leadsTo,
  ...form
}: ActionFormProps<Name>) {
  const after = (): void => {
    then?.();
    if (leadsTo !== undefined) go(leadsTo);
  };
  return (
    <Opens name={name} kind={kind} label={label} then={after}>
      {(onClose) => <FormDialog {...form} onClose={onClose} />}
    </Opens>
  );
}

interface DeletesProps extends Omit<ActionFormProps<never>, 'isDangerous' | 'work'> {
  readonly request: Omit<Request, 'method'>;
  readonly said: string;
}

/** A button that asks for confirmation before it deletes something. */
export const Deletes = ({ request, said, ...form }: DeletesProps) => (
  <ActionForm {...form} isDangerous work={sends({ ...request, method: 'DELETE' }, said)} />
);

function FormDialog<Name extends string>({
  fields = {} as FormFields<Name>,
  isGrid = false,
  isReady,
  work,
  effect,
  more,
  children,
  ...dialog
}: FormProps<Name> & Pick<ConfirmProps, 'onClose'>) {
  const [before] = useState(() => firstTexts(fields));
  const [texts, setTexts] = useState(before);
  const shown = <FieldsOf fields={fields} texts={texts} onChange={setTexts} />;
  const run: Work = () => {
    const known: Readonly<Record<string, string>> = before;
    const changed = Object.entries<string>(texts).filter(([name, text]) => text !== known[name]);
    return work(texts, changed);
  };
  return (
    <Confirm {...dialog} isReady={isReady?.(texts) ?? true} work={run}>
      {children}
      {effect !== undefined && <p>{effect}</p>}
      {isGrid ? <div class="fields">{shown}</div> : shown}
      {more?.({
        texts,
        onChange: (changed) => {
          setTexts({ ...texts, ...changed });
        },
      })}
    </Confirm>
  );
}
