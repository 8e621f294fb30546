/** The controls of forms, each with its label. */
import type { ComponentChildren, FunctionComponent, LooseInputHTMLAttributes } from 'preact';
import { useId } from 'preact/hooks';
import { classes } from './basics.tsx';

interface FieldProps {
  readonly label: string;
  readonly hint?: ComponentChildren;
  readonly error?: string | undefined;
  /** Renders a control with the attributes that tie it to its label, hint and error. */
  readonly children: (control: {
    readonly id: string;
    readonly 'aria-describedby': string | undefined;
    readonly 'aria-invalid': boolean;
  }) => ComponentChildren;
}

/** A control with its label, its hint and its error. */
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
  readonly type?: 'text' | 'password' | 'number' | 'url' | 'search' | 'datetime-local';
  /** Lines of a longer text. */
  readonly rows?: number;
  readonly isCode?: boolean;
  readonly required?: boolean;
  readonly autoFocus?: boolean;
  readonly autoComplete?: string;
  /** The id of a list of values to choose from. */
  readonly list?: string;
}

/** The type of an `input` decides its other attributes, which the compiler cannot follow for a type that varies. */
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
  ...rest
}: TextFieldProps) {
  return (
    <Field label={label} hint={hint} error={error}>
      {(control) =>
        rows === undefined ? (
          <Input
            {...control}
            {...rest}
            type={type}
            class={classes(isCode === true && 'code')}
            autocapitalize="none"
            spellcheck={false}
            value={value}
            onInput={(event) => {
              onInput(event.currentTarget.value);
            }}
          />
        ) : (
          <textarea
            {...control}
            placeholder={rest.placeholder}
            required={rest.required}
            class={classes(isCode === true && 'code')}
            rows={rows}
            spellcheck={false}
            value={value}
            onInput={(event) => {
              onInput(event.currentTarget.value);
            }}
          />
        )
      }
    </Field>
  );
}

interface SelectFieldProps {
  readonly label: string;
  readonly value: string;
  readonly onInput: (value: string) => void;
  /** Values with their names. */
  readonly options: readonly (readonly [string, string])[];
  readonly hint?: ComponentChildren;
}

export function SelectField({ label, value, onInput, options, hint }: SelectFieldProps) {
  return (
    <Field label={label} hint={hint}>
      {(control) => (
        <select
          {...control}
          value={value}
          onChange={(event) => {
            onInput(event.currentTarget.value);
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
  /** Whether only screen readers get the label. */
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
