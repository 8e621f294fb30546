import { useState } from 'preact/hooks';
import type { Answer } from '../../../../lambdas/wire/answers.ts';
import { alarms, type AlarmFormat } from '../../../../lambdas/wire/alarms.ts';
import { ask } from '../../api/client.ts';
import { useAction } from '../../api/useAsked.ts';
import { Button, Card } from '../../ui/basics.tsx';
import { Checkbox, Refused, SelectField, TextField, useRefusal } from '../../ui/fields.tsx';
import { fromLines, listsOf, toLines } from '../../ui/headerLines.ts';
import { viewersZone } from '../schedules/fires.tsx';

type Settings = Answer<typeof alarms>['settings'];

const formats: readonly (readonly [AlarmFormat, string])[] = [
  ['slack', 'Slack'],
  ['pagerduty', 'PagerDuty'],
  ['json', 'JSON, for your own program'],
];

const placeholders: Readonly<Record<AlarmFormat, string>> = {
  slack: 'https://hooks.slack.com/services/…',
  pagerduty: 'https://events.pagerduty.com/v2/enqueue',
  json: 'https://example.com/alarms',
};

/** The values that a switch of the form begins with when it is turned on. */
const firstSettings = {
  deadLetters: { above: 10, minutes: 15 },
  limits: 80,
  quietHours: { from: '22:00', to: '07:00' },
};

function draftOf(of: Settings) {
  const { deadLetters, limits, quietHours } = { ...firstSettings, ...of };
  return {
    format: of?.format ?? 'slack',
    url: of?.url ?? '',
    routingKey: of?.routingKey ?? '',
    headers: toLines(of?.headers ?? {}),
    hasDeadLetters: of === undefined || of.deadLetters !== undefined,
    above: String(deadLetters.above),
    minutes: String(deadLetters.minutes),
    hosts: of?.hosts ?? of === undefined,
    schedules: of?.schedules ?? of === undefined,
    runs: of?.runs ?? of === undefined,
    hasLimits: of === undefined || of.limits !== undefined,
    limits: String(limits),
    hasQuietHours: of?.quietHours !== undefined,
    from: quietHours.from,
    to: quietHours.to,
    timezone: of?.quietHours?.timezone ?? viewersZone(),
  };
}

type Draft = ReturnType<typeof draftOf>;

const settingsOf = (draft: Draft) => ({
  url: draft.url,
  format: draft.format,
  ...(draft.format === 'pagerduty' && { routingKey: draft.routingKey.trim() }),
  ...(draft.headers.trim() !== '' && { headers: listsOf(fromLines(draft.headers)) }),
  ...(draft.hasDeadLetters && {
    deadLetters: { above: Number(draft.above), minutes: Number(draft.minutes) },
  }),
  hosts: draft.hosts,
  schedules: draft.schedules,
  runs: draft.runs,
  ...(draft.hasLimits && { limits: Number(draft.limits) }),
  ...(draft.hasQuietHours && {
    quietHours: { from: draft.from, to: draft.to, timezone: draft.timezone.trim() },
  }),
});

interface FormProps {
  /** The current alarms, if any. */
  readonly of: Settings;
  readonly then: () => void;
}

export function AlarmsForm({ of, then }: FormProps) {
  const [draft, setDraft] = useState(() => draftOf(of));
  const action = useAction();
  const { form, refused, atEnd } = useRefusal(action.error);
  const text = <Name extends keyof Draft>(name: Name) => ({
    value: draft[name],
    onInput: (value: Draft[Name]) => {
      setDraft({ ...draft, [name]: value });
    },
  });
  const checked = (
    name: 'hasDeadLetters' | 'hosts' | 'schedules' | 'runs' | 'hasLimits' | 'hasQuietHours',
  ) => ({
    checked: draft[name],
    onInput: text(name).onInput,
  });
  const save = async (): Promise<string> => {
    await ask(alarms, { method: 'PUT', path: 'v2/alarms', body: settingsOf(draft) });
    then();
    return 'The alarms are saved.';
  };
  const { format } = draft;
  return (
    <Refused.Provider value={refused}>
      <form
        ref={form}
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          void action.run(save);
        }}
      >
        <Card title="Where it is reported">
          <div class="fields">
            <SelectField
              label="As a message for"
              options={formats}
              value={format}
              onInput={(value) => {
                const chosen = formats.find(([one]) => one === value)?.[0] ?? format;
                const isEmpty = draft.url === '' || draft.url === placeholders.pagerduty;
                const url = chosen === 'pagerduty' ? placeholders.pagerduty : '';
                setDraft({ ...draft, format: chosen, ...(isEmpty && { url }) });
              }}
            />
            <TextField
              label="URL"
              about="url"
              required
              placeholder={placeholders[format]}
              {...text('url')}
              hint={of && 'A password in it is not shown, but kept.'}
            />
            {format === 'pagerduty' && (
              <TextField
                label="Integration key"
                about="routingKey"
                type="password"
                autoComplete="off"
                required
                {...text('routingKey')}
                hint="Of an integration with the Events API v2."
              />
            )}
          </div>
          <TextField
            label="Headers"
            about={/^headers\b| is not a header; /}
            rows={2}
            isCode
            placeholder="Authorization: Bearer …"
            {...text('headers')}
            hint="One per line. Usually none are needed."
          />
        </Card>
        <Card title="What is told">
          <p class="hint">One message when an alarm begins, and one when it ends.</p>
          <Checkbox label="New dead letters" {...checked('hasDeadLetters')} />
          {draft.hasDeadLetters && (
            <div class="fields">
              <TextField label="More than" about="above" type="number" required {...text('above')} />
              <TextField label="Within minutes" about="minutes" type="number" required {...text('minutes')} />
            </div>
          )}
          <Checkbox label="A host that is down, or fails" {...checked('hosts')} />
          <Checkbox label="A schedule that fails" {...checked('schedules')} />
          <Checkbox label="A run that hangs" {...checked('runs')} />
          <Checkbox label="A limit that is near" {...checked('hasLimits')} />
          {draft.hasLimits && (
            <div class="fields">
              <TextField label="From percent" about="limits" type="number" required {...text('limits')} />
            </div>
          )}
        </Card>
        <Card title="Quiet hours">
          <Checkbox label="Report nothing during part of the day" {...checked('hasQuietHours')} />
          {draft.hasQuietHours && (
            <>
              <div class="fields">
                <TextField label="From" about="from" type="time" required {...text('from')} />
                <TextField label="To" about="to" type="time" required {...text('to')} />
                <TextField label="Time zone" about="timezone" required {...text('timezone')} />
              </div>
              <p class="hint">Alarms that are still open at the end are reported then.</p>
            </>
          )}
        </Card>
        {atEnd !== undefined && (
          <p class="wrong" role="alert">
            {atEnd}
          </p>
        )}
        <div class="actions">
          <Button type="submit" kind="main" isBusy={action.isRunning}>
            Save
          </Button>
        </div>
      </form>
    </Refused.Provider>
  );
}
