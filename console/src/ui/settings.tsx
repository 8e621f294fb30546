import type { ComponentChildren } from 'preact';
import { useContext, useLayoutEffect, useRef } from 'preact/hooks';
import { fields } from '../../../lambdas/options/described.ts';
import type { FormField, Place } from '../../../lambdas/options/option.ts';
import { writeOptions } from '../../../lambdas/options/options.ts';
import { href } from '../place.ts';
import { Checkbox, Field, Refused } from './fields.tsx';
import { localTime } from './filters.tsx';
import {
  isOfCallback,
  labelIn,
  type CallbackName,
  type Settings,
  type SettingTexts,
} from './settingTexts.ts';
import { duration } from './time.tsx';
import { Visible, type Details } from './basics.tsx';

interface FieldsProps {
  readonly form: 'publish' | 'schedule' | 'retry' | 'resume';
  readonly place?: Place;
  readonly without?: readonly string[];
  readonly texts: SettingTexts;
  readonly onChange: (changed: SettingTexts) => void;
  readonly none?: string;
  /** The callback to which the settings belong; undefined for the message itself. */
  readonly callback?: CallbackName;
  /** Mistakes by field, if the form's owner finds them. */
  readonly problems?: Readonly<Record<string, string | undefined>>;
}

const secondMs = 1_000;

/** Fields for settings. The API checks the values. */
export function SettingFields({
  form,
  place,
  without = [],
  texts,
  onChange,
  none = 'default',
  callback,
  problems,
}: FieldsProps) {
  const prefix = callback === undefined ? '' : `${callback}-`;
  const control = (part: string, { label, placeholder, choices, kind, isCode }: Partial<FormField>) => {
    const name = prefix + part;
    const value = texts[name] ?? '';
    const onInput = (text: string): void => {
      onChange({ [name]: text });
    };
    const shownLabel = labelIn(callback, label ?? part);
    if (kind === 'switch') {
      return (
        <Checkbox
          key={name}
          label={shownLabel}
          checked={value !== ''}
          onInput={(isOn) => {
            onInput(isOn ? 'true' : '');
          }}
        />
      );
    }
    const isTime = kind === 'time';
    return (
      <Field
        key={name}
        label={shownLabel}
        about={problems === undefined ? name : undefined}
        {...(isTime && { type: 'datetime-local' })}
        options={choices && [['', none], ...choices.map((one) => [one, one] as const)]}
        placeholder={placeholder}
        isCode={isCode}
        error={problems?.[name]}
        value={isTime && value !== '' ? localTime(Number(value) * secondMs) : value}
        onInput={(text) => {
          onInput(isTime && text !== '' ? String(new Date(text).getTime() / secondMs) : text);
        }}
      />
    );
  };
  const shown = Object.entries(fields).filter(([name, { only = form, place: own, isOfRun }]) =>
    callback === undefined
      ? only === form &&
        (form !== 'resume' || isOfRun === true) &&
        (place ?? own) === own &&
        !without.includes(name)
      : isOfCallback(name),
  );
  return (
    <>
      {shown.flatMap(([name, field]) =>
        Object.entries(field.parts ?? { [name]: field }).map(([part, one]) => control(part, one)),
      )}
    </>
  );
}

interface MoreFieldsProps {
  readonly name: string;
  readonly hint?: string;
  readonly children: ComponentChildren;
}

/** Fields that are hidden until the user opens them, or one of them is wrong. */
export function MoreFields({ name, hint, children }: MoreFieldsProps) {
  const details = useRef<HTMLDetailsElement>(null);
  // Drawn again when the form is refused.
  useContext(Refused);
  useLayoutEffect(() => {
    const isWrong = details.current?.querySelector('[aria-invalid="true"]');
    if (details.current && isWrong) details.current.open = true;
  });
  return (
    <details ref={details}>
      <summary>{name}</summary>
      {hint !== undefined && <p class="hint">{hint}</p>}
      <div class="fields">{children}</div>
    </details>
  );
}

export const ChangedSettings = (props: Pick<FieldsProps, 'form' | 'texts' | 'onChange'>) => (
  <MoreFields name="Change settings" hint="Leave a field empty to keep its value.">
    <SettingFields
      {...props}
      onChange={(changed) => {
        props.onChange({ ...props.texts, ...changed });
      }}
      none="Unchanged"
    />
  </MoreFields>
);

/** A line for each label. Long labels are cut. */
const LabelList = ({ of }: { readonly of: readonly string[] }) => (
  <ul>
    {of.map((label) => (
      <li key={label} class="cut" title={label}>
        <bdi>
          <Visible text={label} />
        </bdi>
      </li>
    ))}
  </ul>
);

/** Changes the API's seconds to a duration as the console shows it. */
const inOneForm = (text: string): string => {
  const [, seconds] = /^(\d+)s$/.exec(text) ?? [];
  return seconds === undefined ? text : duration(Number(seconds) * secondMs);
};

/** The settings in an answer, as a list of details. The method is shown elsewhere. */
export function settingDetails(of: Parameters<typeof writeOptions>[0]): Details {
  const settings: Settings = writeOptions(of);
  return Object.entries(fields).flatMap(([name, { label, isCode }]) => {
    const text = settings[name];
    if (text === undefined || name === 'method') return [];
    if (name === 'label') return [[label, <LabelList of={text.split(',')} />] as const];
    const value =
      name === 'flow-control-key' ? (
        <a href={href(['flow-control', text])}>
          <Visible text={text} />
        </a>
      ) : (
        inOneForm(text)
      );
    return [[label, isCode ? <code>{value}</code> : value] as const];
  });
}
