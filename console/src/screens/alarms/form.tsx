import { Fragment } from 'preact';
import { useState } from 'preact/hooks';
import type { Answer } from '../../../../lambdas/wire/answers.ts';
import { alarmKinds, alarms, kindTable, type AlarmKind } from '../../../../lambdas/wire/alarms.ts';
import { ask } from '../../api/client.ts';
import { FieldsOf, firstTexts, type FormFields, type FormTexts } from '../../ui/action.tsx';
import { Card } from '../../ui/basics.tsx';
import { Form } from '../../ui/dialog.tsx';
import { Checkbox } from '../../ui/fields.tsx';
import { fromLines, listsOf, toLines } from '../../ui/headerLines.ts';
import { viewersZone } from '../schedules/fires.tsx';

type Settings = Answer<typeof alarms>['settings'];

const placeholders: Readonly<Record<string, string>> = {
  slack: 'https://hooks.slack.com/services/…',
  pagerduty: 'https://events.pagerduty.com/v2/enqueue',
  json: 'https://example.com/alarms',
};

/**
 * The fields with their current values; if a part is off, with the values that it has when it is turned on.
 */
const fieldsOf = (of: Settings, format: string) =>
  ({
    format: {
      label: 'Format',
      value: of?.format ?? 'slack',
      options: [
        ['slack', 'Slack'],
        ['pagerduty', 'PagerDuty'],
        ['json', 'JSON, for your own program'],
      ],
    },
    url: {
      label: 'URL',
      value: of?.url,
      required: true,
      placeholder: placeholders[format],
      hint: of && 'A password in the URL is kept, but not shown.',
    },
    routingKey: {
      label: 'Integration key',
      value: of?.routingKey,
      isShown: (texts) => texts['format'] === 'pagerduty',
      type: 'password',
      autoComplete: 'off',
      required: true,
      hint: 'The key of an integration with the Events API v2.',
    },
    headers: {
      label: 'Headers',
      about: /^headers\b| is not a header; /,
      value: toLines(of?.headers ?? {}),
      rows: 2,
      isCode: true,
      placeholder: 'Authorization: Bearer …',
      hint: 'One per line. Most receivers need none.',
    },
    from: { label: 'From', type: 'time', value: of?.quietHours?.from ?? '22:00', required: true },
    to: { label: 'To', type: 'time', value: of?.quietHours?.to ?? '07:00', required: true },
    timezone: { label: 'Time zone', value: of?.quietHours?.timezone ?? viewersZone(), required: true },
  }) satisfies FormFields<string>;

type Name = keyof ReturnType<typeof fieldsOf>;
type Texts = FormTexts<Name>;

/** The current numbers of a kind, by name. */
export const numbersOf = (
  kind: AlarmKind,
  of: Settings,
): Readonly<Record<string, number | boolean | undefined>> => {
  const setting = of?.[kind];
  return typeof setting === 'object' ? { ...setting } : { [kind]: setting };
};

/** The path of a number in a request, which the API's errors name. */
const pathOf = (kind: AlarmKind, name: string): string => (name === kind ? kind : `${kind}.${name}`);

const numberFields = (kind: AlarmKind, of: Settings): FormFields<string> =>
  Object.fromEntries(
    Object.entries(kindTable[kind].numbers ?? {}).map(([name, { label, first }]) => {
      const value = String(numbersOf(kind, of)[name] ?? first);
      return [pathOf(kind, name), { label, type: 'number', value, required: true }];
    }),
  );

/** The parts of the form that are on. At first, all kinds of alarms are. */
type Part = AlarmKind | 'quietHours';
const partsOf = (of: Settings): ReadonlySet<Part> =>
  new Set([
    ...alarmKinds.filter((kind) => of === undefined || (of[kind] ?? false) !== false),
    ...(of?.quietHours === undefined ? [] : ['quietHours' as const]),
  ]);

function settingOf(kind: AlarmKind, isOn: boolean, texts: FormTexts<string>): unknown {
  const names = Object.keys(kindTable[kind].numbers ?? {});
  if (names.length === 0) return isOn;
  const numbers = Object.fromEntries(names.map((name) => [name, Number(texts[pathOf(kind, name)])]));
  return isOn ? (numbers[kind] ?? numbers) : undefined;
}

const settingsOf = (
  { format, url, ...texts }: Texts,
  numbers: FormTexts<string>,
  parts: ReadonlySet<Part>,
) => ({
  url,
  format,
  ...(format === 'pagerduty' && { routingKey: texts.routingKey.trim() }),
  ...(texts.headers.trim() !== '' && { headers: listsOf(fromLines(texts.headers)) }),
  ...Object.fromEntries(alarmKinds.map((kind) => [kind, settingOf(kind, parts.has(kind), numbers)])),
  ...(parts.has('quietHours') && {
    quietHours: { from: texts.from, to: texts.to, timezone: texts.timezone.trim() },
  }),
});

/** If the format changes and the URL is empty, sets the default URL of the format. */
function changed(before: Texts, after: Texts): Texts {
  if (after.format === before.format || !['', placeholders['pagerduty']].includes(after.url)) return after;
  return { ...after, url: after.format === 'pagerduty' ? (placeholders['pagerduty'] ?? '') : '' };
}

interface FormProps {
  readonly of: Settings;
  readonly then: () => void;
}

export function AlarmsForm({ of, then }: FormProps) {
  const [texts, setTexts] = useState<Texts>(() => firstTexts(fieldsOf(of, '')));
  const [numbers, setNumbers] = useState(() =>
    firstTexts(Object.fromEntries(alarmKinds.flatMap((kind) => Object.entries(numberFields(kind, of))))),
  );
  const [parts, setParts] = useState(() => partsOf(of));
  const shown = (only: readonly Name[]) => (
    <FieldsOf
      fields={fieldsOf(of, texts.format)}
      only={only}
      texts={texts}
      onChange={(after) => {
        setTexts(changed(texts, after));
      }}
    />
  );
  const part = (name: Part, label: string) => (
    <Checkbox
      label={label}
      checked={parts.has(name)}
      onInput={(isOn) => {
        setParts(new Set([...parts, name].filter((one) => isOn || one !== name)));
      }}
    />
  );
  const save = async (): Promise<string> => {
    await ask(alarms, { method: 'PUT', path: 'v2/alarms', body: settingsOf(texts, numbers, parts) });
    return 'The alarms have been saved.';
  };
  return (
    <Form
      class="stack"
      work={save}
      then={then}
      yes="Save"
      end={(submit, error) => [error, <div>{submit}</div>]}
    >
      <Card title="Where notifications are sent">
        <div class="fields">{shown(['format', 'url', 'routingKey'])}</div>
        {shown(['headers'])}
      </Card>
      <Card title="Notify about">
        <p class="hint">One message when an alarm begins, and one when it ends.</p>
        {alarmKinds.map((kind) => (
          <Fragment key={kind}>
            {part(kind, kindTable[kind].label)}
            {kindTable[kind].numbers && parts.has(kind) && (
              <div class="fields">
                <FieldsOf fields={numberFields(kind, of)} texts={numbers} onChange={setNumbers} />
              </div>
            )}
          </Fragment>
        ))}
      </Card>
      <Card title="Quiet hours">
        {part('quietHours', 'Send no notifications during part of the day')}
        {parts.has('quietHours') && (
          <>
            <div class="fields">{shown(['from', 'to', 'timezone'])}</div>
            <p class="hint">When they end, you are notified of alarms that are still open.</p>
          </>
        )}
      </Card>
    </Form>
  );
}
