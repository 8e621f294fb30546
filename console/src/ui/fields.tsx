import {
  createContext,
  type ComponentChildren,
  type FunctionComponent,
  type LooseInputHTMLAttributes,
} from 'preact';
import { useContext, useId, useLayoutEffect } from 'preact/hooks';
import { classes } from './basics.tsx';
import { fieldOfSetting, inLabels } from './settingTexts.ts';

/** A refused form: the API's sentence, and how it is removed from a changed field. */
interface RefusedForm {
  readonly sentence: string | undefined;
  readonly forget: () => void;
  readonly find: () => void;
}
export const Refused = createContext<RefusedForm>({
  sentence: undefined,
  forget: () => undefined,
  find: () => undefined,
});

/** The API's errors that are about a field: those with this name, or those whose sentence matches. */
type About = string | RegExp;

/**
 * Replaces the API's name in an error with the field's label; undefined if the error is about something else.
 */
function inWordsOf(label: string, sentence: string, about: About): string | undefined {
  if (about instanceof RegExp) return about.test(sentence) ? sentence : undefined;
  const [header] = /svc-[\w-]+/i.exec(sentence) ?? [];
  if (header !== undefined)
    return fieldOfSetting(header, sentence) === about ? inLabels(sentence) : undefined;
  const name = new RegExp(`^([\\w.]+\\.)?${about}\\b(\\.\\d+)?`);
  return name.test(sentence) ? sentence.replace(name, label) : undefined;
}

export interface FieldProps {
  readonly label: string;
  readonly value: string;
  readonly onInput: (value: string) => void;
  readonly hint?: ComponentChildren;
  readonly error?: string | undefined;
  readonly placeholder?: string | undefined;
  /** The values that can be chosen, with their names. */
  readonly options?: readonly (readonly [value: string, name: string])[] | undefined;
  readonly type?: 'text' | 'password' | 'number' | 'url' | 'search' | 'datetime-local' | 'time';
  /** The number of lines of a text field. */
  readonly rows?: number;
  readonly isCode?: boolean | undefined;
  readonly required?: boolean;
  readonly autoFocus?: boolean;
  readonly autoComplete?: string;
  readonly list?: string | undefined;
  readonly about?: About | undefined;
}

/** Which attributes an `input` has depends on its type. The compiler cannot check them if the type varies. */
const Input = 'input' as unknown as FunctionComponent<LooseInputHTMLAttributes>;

export function Field({ label, value, onInput, hint, options, rows, isCode, about, ...rest }: FieldProps) {
  const id = useId();
  const { sentence, forget, find } = useContext(Refused);
  const refusal =
    about === undefined || sentence === undefined ? undefined : inWordsOf(label, sentence, about);
  useLayoutEffect(() => {
    if (refusal !== undefined) find();
  }, [refusal]);
  const { error = refusal, type = 'text', ...more } = rest;
  const describes = [hint && `${id}-hint`, error && `${id}-error`].filter(Boolean).join(' ');
  const control = {
    id,
    'aria-describedby': describes || undefined,
    'aria-invalid': error !== undefined,
    value,
  };
  const change = (event: { readonly currentTarget: { readonly value: string } }): void => {
    if (refusal !== undefined) forget();
    onInput(event.currentTarget.value);
  };
  const text = { ...control, class: classes(isCode === true && 'code'), spellcheck: false, onInput: change };
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {options ? (
        <select {...control} onChange={change}>
          {options.map(([option, name]) => (
            <option key={option} value={option}>
              {name}
            </option>
          ))}
        </select>
      ) : rows === undefined ? (
        <Input {...text} {...more} type={type} autocapitalize="none" />
      ) : (
        <textarea {...text} placeholder={more.placeholder} required={more.required} rows={rows} />
      )}
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

interface CheckboxProps {
  readonly label: string;
  readonly checked: boolean;
  readonly onInput: (checked: boolean) => void;
  /** Whether only screen readers get the label. */
  readonly isLabelHidden?: boolean;
}

export const Checkbox = ({ label, checked, onInput, isLabelHidden = false }: CheckboxProps) => (
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
