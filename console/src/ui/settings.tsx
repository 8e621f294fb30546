/** The settings of a message as a form has them, under the names of their headers without a prefix. */
import { methods } from '../../../lambdas/value/method.ts';
import { SelectField, TextField } from './fields.tsx';

/** Those that are empty are not given. */
export type SettingTexts = Readonly<Record<string, string>>;

const fields = [
  ['Delay', 'Delay', '90s, 5m, 1h30m'],
  ['Retries', 'Retries', '3'],
  ['Retry-Delay', 'Delay of a retry, in ms', 'pow(2, retried) * 1000'],
  ['Timeout', 'Timeout', '30s'],
  ['Queue-Name', 'Queue', ''],
  ['Callback', 'Callback', 'https://example.com/done'],
  ['Failure-Callback', 'Failure callback', 'https://example.com/failed'],
  ['Label', 'Labels', 'nightly, invoices'],
  ['Flow-Control-Key', 'Flow-control key', 'tenant-7'],
  ['Flow-Control-Value', 'Flow-control limits', 'parallelism=3, rate=10, period=1m'],
  ['Redact-Fields', 'Redact', 'body, header[authorization]'],
] as const;

export type SettingName = (typeof fields)[number][0] | 'Method';

/** The fields of settings. What may stand in them, the service says: it checks them when the form is sent. */
export function SettingFields({
  texts,
  onChange,
  without = [],
  method,
}: {
  readonly texts: SettingTexts;
  readonly onChange: (texts: SettingTexts) => void;
  readonly without?: readonly SettingName[];
  /** The name of the method's first choice, which is to give none. */
  readonly method?: string;
}) {
  const set =
    (name: string) =>
    (text: string): void => {
      onChange({ ...texts, [name]: text });
    };
  return (
    <div class="fields">
      <SelectField
        label="Method"
        value={texts['Method'] ?? ''}
        onInput={set('Method')}
        options={[
          ...(method === undefined ? [] : [['', method] as const]),
          ...methods.map((one) => [one, one] as const),
        ]}
      />
      {fields.map(
        ([name, label, placeholder]) =>
          !without.includes(name) && (
            <TextField
              key={name}
              label={label}
              placeholder={placeholder}
              value={texts[name] ?? ''}
              onInput={set(name)}
            />
          ),
      )}
    </div>
  );
}

type Pair = readonly [name: string, value: string];

/** The headers of the settings that are given. */
export const settingHeaders = (texts: SettingTexts): readonly Pair[] =>
  Object.entries(texts).flatMap(([name, text]) =>
    text.trim() === '' ? [] : [[`Svc-${name}`, text.trim()] as const],
  );

/** Puts headers of the service where they can stand: a header has ASCII only, whoever sends it, and the query has the rest. */
export function sentAs(pairs: readonly Pair[]): {
  readonly headers: readonly Pair[];
  readonly query: readonly [name: string, value: string][];
} {
  const isAscii = ([, value]: Pair): boolean => /^[\t\x20-\x7e]*$/.test(value);
  return {
    headers: pairs.filter(isAscii),
    query: pairs.flatMap(([name, value]) => (isAscii([name, value]) ? [] : [[name.toLowerCase(), value]])),
  };
}
