import { fields } from '../../../lambdas/options/described.ts';

/** Texts that were typed, by the canonical name of a setting, or of a part of it. */
export type SettingTexts = Readonly<Record<string, string>>;

export type Settings = Readonly<Record<string, string | undefined>>;

export const textsOf = (settings: Settings): SettingTexts =>
  Object.fromEntries(
    Object.entries(settings).flatMap(([name, text]): [string, string][] => {
      if (text === undefined) return [];
      if (fields[name]?.parts === undefined) return [[name, text]];
      return text.split(', ').map((part) => {
        const [key = '', value = ''] = part.split('=');
        return [key, value];
      });
    }),
  );

/** The kinds of callbacks, whose deliveries have separate settings, such as `callback-retries`. */
export const callbacks = ['callback', 'failure-callback'] as const;
export type CallbackName = (typeof callbacks)[number];
const prefixes = ['', ...callbacks.map((name) => `${name}-`)];

export const isOfCallback = (name: string): boolean =>
  fields[name]?.only === undefined &&
  fields[name]?.isOfMessage === undefined &&
  !callbacks.some((callback) => callback === name);

export const settingsOf = (texts: SettingTexts): ReadonlyMap<string, string> =>
  new Map(
    prefixes.flatMap((prefix) =>
      Object.entries(fields).flatMap(([name, { parts }]): [string, string][] => {
        const text =
          parts === undefined
            ? texts[prefix + name]?.trim()
            : Object.keys(parts)
                .flatMap((part) => (texts[prefix + part] ? `${part}=${texts[prefix + part]?.trim()}` : []))
                .join(', ');
        return text ? [[prefix + name, text]] : [];
      }),
    ),
  );

/** The header of a setting, such as `Svc-Retry-Delay`. */
export const headerOf = (name: string): string =>
  `svc-${name}`.replace(/(?<=^|-)[a-z]/g, (letter) => letter.toUpperCase());

export function fieldOfSetting(header: string, sentence: string): string | undefined {
  const { prefix, name } = partsOf(header);
  const field = fields[name];
  if (field === undefined) return undefined;
  if (field.parts === undefined) return prefix + name;
  const [, part = ''] = /^The (\w+) of /.exec(sentence) ?? [];
  const [first = name] = Object.keys(field.parts);
  return prefix + (part in field.parts ? part : first);
}

/** Splits a header into the kind of callback, if any, and the name of a setting. */
function partsOf(header: string): { readonly prefix: string; readonly name: string } {
  const whole = header.toLowerCase().replace(/^svc-/, '');
  const prefix = prefixes.findLast((one) => whole.startsWith(one) && whole.slice(one.length) in fields) ?? '';
  return { prefix, name: whole.slice(prefix.length) };
}

type Pair = readonly [name: string, value: string];

export const settingHeaders = (texts: SettingTexts): readonly Pair[] =>
  [...settingsOf(texts)].map(([name, text]) => [headerOf(name), text]);

/** Divides settings into headers and query parameters. Values that are not ASCII cannot be headers. */
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

/** The label of a field. If it belongs to a callback, the callback's label comes first. */
export const labelIn = (callback: string | undefined, label: string): string =>
  callback === undefined ? label : `${fields[callback]?.label ?? callback}: ${label}`;

/** Replaces headers in an error of the API with the labels of the form. */
export const inLabels = (sentence: string): string =>
  sentence.replace(/\bsvc-[\w-]+/gi, (header) => {
    const { prefix, name } = partsOf(header);
    const { label } = fields[name] ?? {};
    return label === undefined ? header : labelIn(prefix === '' ? undefined : prefix.slice(0, -1), label);
  });
