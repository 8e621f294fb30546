import {
  createContext,
  type ComponentChildren,
  type FunctionComponent,
  type LooseInputHTMLAttributes,
} from 'preact';
import { useContext, useId, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { classes } from './basics.tsx';
import { fieldOfSetting, inLabels } from './settingTexts.ts';

/** A refused form: the API's message, and how a changed field removes it. */
interface RefusedForm {
  readonly sentence: string | undefined;
  readonly forget: () => void;
}
export const Refused = createContext<RefusedForm>({ sentence: undefined, forget: () => undefined });

/** The API errors that are shown under a field: those about a name of the API, or those whose message matches. */
type About = string | RegExp;

/** Rewrites an API message with a field's label; undefined if it is about something else. */
function inWordsOf(label: string, sentence: string, about: About): string | undefined {
  if (about instanceof RegExp) return about.test(sentence) ? sentence : undefined;
  const [header] = /svc-[\w-]+/i.exec(sentence) ?? [];
  if (header !== undefined)
    return fieldOfSetting(header, sentence) === about ? inLabels(sentence) : undefined;
  const name = new RegExp(`^([\\w.]+\\.)?${about}\\b(\\.\\d+)?`);
  return name.test(sentence) ? sentence.replace(name, label) : undefined;
}

/** The problem of a field in a refused form, and the field's change handler. */
function useProblem(label: string, about: About | undefined, onInput: (value: string) => void) {
  const { sentence, forget } = useContext(Refused);
  const error = about === undefined || sentence === undefined ? undefined : inWordsOf(label, sentence, about);
  const onChange = (value: string): void => {
    if (error !== undefined) forget();
    onInput(value);
  };
  return { error, onChange };
}

/**
 * Shows the API's error under its field, and scrolls there.
 *
 * @returns the form's ref; the value of {@link Refused}; and the message for the form's end, if no field shows it
 */
export function useRefusal(error: string | undefined) {
  const form = useRef<HTMLFormElement>(null);
  const [isForgotten, setForgotten] = useState(false);
  const [isUnderField, setUnderField] = useState(false);
  useLayoutEffect(() => {
    setForgotten(false);
    const wrong = form.current?.querySelector<HTMLElement>('[aria-invalid="true"]');
    setUnderField(error !== undefined && Boolean(wrong));
    if (error !== undefined) wrong?.focus();
  }, [error]);
  const sentence = isForgotten ? undefined : error;
  const refused: RefusedForm = {
    sentence,
    forget: () => {
      setForgotten(true);
    },
  };
  return { form, refused, atEnd: isUnderField ? undefined : sentence };
}

interface FieldProps {
  readonly label: string;
  readonly hint?: ComponentChildren;
  readonly error?: string | undefined;
  readonly children: (control: {
    readonly id: string;
    readonly 'aria-describedby': string | undefined;
    readonly 'aria-invalid': boolean;
  }) => ComponentChildren;
}

export function Field({ label, hint, error, children }: FieldProps) {
  const id = useId();
  const describes = [hint && `${id}-hint`, error && `${id}-error`].filter(Boolean).join(' ');
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children({ id, 'aria-describedby': describes || undefined, 'aria-invalid': error !== undefined })}
      {hint && (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
      {error && (
        <p class="wrong" id={`${id}-error`}>
          {error}
        </p>
      )}
    </div>
  );
}

interface TextFieldProps {
  readonly label: string;
  readonly value: string;
  readonly onInput: (value: string) => void;
  readonly hint?: ComponentChildren;
  readonly error?: string | undefined;
  readonly placeholder?: string;
  readonly type?: 'text' | 'password' | 'number' | 'url' | 'search' | 'datetime-local' | 'time';
  /** The height of a multi-line text, in lines. */
  readonly rows?: number;
  readonly isCode?: boolean;
  readonly required?: boolean;
  readonly autoFocus?: boolean;
  readonly autoComplete?: string;
  readonly list?: string;
  readonly about?: About;
}

/** The other attributes of an `input` depend on its type. The compiler cannot check them if the type varies. */
const Input = 'input' as unknown as FunctionComponent<LooseInputHTMLAttributes>;

export function TextField({
  label,
  value,
  onInput,
  hint,
  error,
  rows,
  isCode,
  type = 'text',
  about,
  ...rest
}: TextFieldProps) {
  const problem = useProblem(label, about, onInput);
  return (
    <Field label={label} hint={hint} error={error ?? problem.error}>
      {(control) => {
        const common = {
          ...control,
          class: classes(isCode === true && 'code'),
          spellcheck: false,
          value,
          onInput: (event: { readonly currentTarget: { readonly value: string } }) => {
            problem.onChange(event.currentTarget.value);
          },
        };
        if (rows === undefined) return <Input {...common} {...rest} type={type} autocapitalize="none" />;
        const { placeholder, required } = rest;
        return <textarea {...common} placeholder={placeholder} required={required} rows={rows} />;
      }}
    </Field>
  );
}

interface SelectFieldProps {
  readonly label: string;
  readonly value: string;
  readonly onInput: (value: string) => void;
  readonly options: readonly (readonly [string, string])[];
  readonly hint?: ComponentChildren;
  readonly about?: About;
}

export function SelectField({ label, value, onInput, options, hint, about }: SelectFieldProps) {
  const problem = useProblem(label, about, onInput);
  return (
    <Field label={label} hint={hint} error={problem.error}>
      {(control) => (
        <select
          {...control}
          value={value}
          onChange={(event) => {
            problem.onChange(event.currentTarget.value);
          }}
        >
          {options.map(([option, name]) => (
            <option key={option} value={option}>
              {name}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

export function Checkbox({
  label,
  checked,
  onInput,
  isLabelHidden = false,
}: {
  readonly label: string;
  readonly checked: boolean;
  readonly onInput: (checked: boolean) => void;
  /** Whether the label is only for screen readers. */
  readonly isLabelHidden?: boolean;
}) {
  return (
    <label class="checkbox">
      <input
        type="checkbox"
        checked={checked}
        onChange={(event) => {
          onInput(event.currentTarget.checked);
        }}
      />
      <span class={classes(isLabelHidden && 'visually-hidden')}>{label}</span>
    </label>
  );
}
