import { useState } from 'preact/hooks';
import { schedule, scheduled, type Answer } from '../../../../lambdas/wire/answers.ts';
import { writeOptions } from '../../../../lambdas/options/options.ts';
import { isRedacted } from '../../../../lambdas/options/redaction.ts';
import { ask, path, Refusal } from '../../api/client.ts';
import { isSettled, useAction, useOnceTrue } from '../../api/useAsked.ts';
import { go, href } from '../../place.ts';
import { ResourcePage } from '../../ui/resourcePage.tsx';
import { textOf } from '../../ui/base64.ts';
import { Button, ButtonLink, Card, Loading, Page } from '../../ui/basics.tsx';
import { Form } from '../../ui/dialog.tsx';
import { Checkbox, Field } from '../../ui/fields.tsx';
import { fromLines, toLines } from '../../ui/headerLines.ts';
import { SettingFields } from '../../ui/settings.tsx';
import {
  headerOf,
  sentAs,
  settingHeaders,
  settingsOf,
  textsOf,
  type SettingTexts,
} from '../../ui/settingTexts.ts';
import { isSetting } from '../publish/draft.ts';
import { NextFires, useExplained, viewersZone } from './fires.tsx';
import { hrefOfSchedule } from '../links.tsx';

interface Draft {
  readonly destination: string;
  readonly headers: string;
  /** Undefined if the body cannot be shown. It then stays unchanged. */
  readonly body: string | undefined;
  readonly cron: string;
  readonly texts: SettingTexts;
}

const list = href(['schedules']);

export function NewSchedule() {
  const [id, setId] = useState('');
  const [draft, setDraft] = useState<Draft>(() => ({
    destination: '',
    headers: '',
    body: '',
    cron: `CRON_TZ=${viewersZone()} 0 9 * * MON-FRI`,
    texts: {},
  }));
  const save = async (): Promise<string> => {
    if (await isTaken(id.trim())) {
      throw new Error(`There is a schedule “${id.trim()}” already. Edit that one, or choose another id.`);
    }
    const { body = '' } = draft;
    const type = isJson(body) ? 'application/json' : 'text/plain';
    const { headers, query } = sentAs([
      ...(id.trim() === '' ? [] : [['Svc-Schedule-Id', id.trim()] as const]),
      ['Svc-Cron', draft.cron],
      ...settingHeaders(draft.texts),
      ...fromLines(draft.headers).map(([name, value]) => [settingOf(name), value] as const),
    ]);
    const { scheduleId } = await ask(scheduled, {
      method: 'POST',
      path: path`v2/schedules/${draft.destination.trim()}`,
      headers: body === '' ? headers : [...headers, ['Content-Type', type]],
      query: new URLSearchParams([...query]),
      // Sent as bytes: a browser would add a content type to a text.
      body: body === '' ? undefined : new TextEncoder().encode(body),
    });
    return scheduleId;
  };
  return (
    <Page title="New schedule" back={{ href: list, name: 'Schedules' }}>
      <ScheduleForm draft={draft} onChange={setDraft} yes="Create" cancel={list} save={save}>
        <Field
          label="Id"
          about={/^There is a schedule|Schedule-Id\b/i}
          value={id}
          onInput={setId}
          placeholder="nightly-report"
          hint="Leave empty for a random id."
        />
      </ScheduleForm>
    </Page>
  );
}

async function isTaken(id: string): Promise<boolean> {
  if (id === '') return false;
  try {
    await ask(schedule, { path: path`v2/schedules/${id}` });
    return true;
  } catch (error) {
    if (error instanceof Refusal && error.status === 404) return false;
    throw error;
  }
}

export const EditSchedule = ({ scheduleId }: { readonly scheduleId: string }) => (
  <ResourcePage
    shape={schedule}
    path={path`v2/schedules/${scheduleId}`}
    title={`Edit ${scheduleId}`}
    back={{ href: hrefOfSchedule(scheduleId), name: scheduleId }}
  >
    {(of) => <EditForm of={of} />}
  </ResourcePage>
);

function EditForm({ of }: { readonly of: Answer<typeof schedule> }) {
  const [before] = useState(() => draftOf(of));
  const [draft, setDraft] = useState(before);
  const save = async (): Promise<string> => {
    const change = changeOf(before, draft);
    const { scheduleId } = await ask(scheduled, {
      method: 'PATCH',
      path: path`v2/schedules/${of.scheduleId}`,
      body: change,
    });
    return scheduleId;
  };
  return (
    <ScheduleForm
      draft={draft}
      onChange={setDraft}
      yes="Save"
      cancel={hrefOfSchedule(of.scheduleId)}
      save={save}
    >
      <p class="hint">
        Fields that you do not change keep their values, including those that are not shown: redacted values,
        passwords in URLs, and the settings of callbacks.
      </p>
    </ScheduleForm>
  );
}

/** The body as text; undefined if it is redacted or not text. */
function bodyOf({ body = '', bodyBase64 }: Answer<typeof schedule>): string | undefined {
  const text = bodyBase64 === undefined ? body : textOf(bodyBase64);
  return isRedacted(text ?? '') ? undefined : text;
}

const draftOf = (of: Answer<typeof schedule>): Draft => ({
  destination: of.destination,
  headers: toLines(of.header),
  body: bodyOf(of),
  cron: of.cron,
  texts: textsOf({
    ...writeOptions({ ...of, maxRetries: of.retries }),
    delay: of.delay === undefined ? undefined : `${of.delay}s`,
    'queue-name': of.queueName,
  }),
});

/** Makes the request that changes one draft into the other. An empty value removes a header. */
function changeOf(before: Draft, after: Draft) {
  const settings = { before: settingsOf(before.texts), after: settingsOf(after.texts) };
  const names = [...new Set([...settings.before.keys(), ...settings.after.keys()])];
  const headers: [name: string, values: string | readonly string[]][] = [
    ...(after.cron === before.cron ? [] : [['Svc-Cron', after.cron] as [string, string]]),
    ...names.flatMap((name): [string, string][] => {
      const text = settings.after.get(name) ?? '';
      return text === (settings.before.get(name) ?? '') ? [] : [[headerOf(name), text]];
    }),
  ];
  const had = headersOf(before);
  const has = headersOf(after);
  for (const [name, values] of has) {
    if (values.join('\n') !== had.get(name)?.join('\n')) headers.push([settingOf(name), values]);
  }
  for (const name of had.keys()) {
    // Either name may have set the header.
    if (!has.has(name)) headers.push([settingOf(name), ''], [name, '']);
  }
  return {
    ...(after.destination !== before.destination && { destination: after.destination.trim() }),
    ...(after.body !== before.body && { body: after.body }),
    headers: Object.fromEntries(headers),
  };
}

/** The headers of a draft: values by lower-case name. */
function headersOf(draft: Draft): ReadonlyMap<string, readonly string[]> {
  const headers = new Map<string, string[]>();
  for (const [written, value] of fromLines(draft.headers)) {
    const name = written.toLowerCase();
    headers.set(name, [...(headers.get(name) ?? []), value]);
  }
  return headers;
}

/** The service's header that sets a header of the delivery. */
const settingOf = (name: string): string => (isSetting(name) ? name : `Svc-Forward-${name}`);

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

interface FormProps {
  readonly draft: Draft;
  readonly onChange: (draft: Draft) => void;
  readonly yes: string;
  readonly cancel: string;
  readonly save: () => Promise<string>;
  readonly children: preact.ComponentChildren;
}

function ScheduleForm({ draft, onChange, yes, cancel, save, children }: FormProps) {
  const action = useAction();
  const { body, cron: cronText, texts } = draft;
  const cron = useExplained(cronText);
  const isNew = yes === 'Create';
  const text = (name: 'destination' | 'headers' | 'cron' | 'body') => ({
    value: draft[name] ?? '',
    onInput: (value: string) => {
      onChange({ ...draft, [name]: value });
    },
  });
  // The form waits for the explanation of its expression, which would otherwise push the fields down.
  if (!useOnceTrue(isSettled(cron))) return <Loading />;
  return (
    <Form
      class="stack"
      action={action}
      work={async () => {
        go(hrefOfSchedule(await save()));
        return 'The schedule is saved.';
      }}
      end={
        <div class="actions">
          <Button type="submit" kind="main" isBusy={action.isRunning} disabled={cron.error !== undefined}>
            {yes}
          </Button>
          <ButtonLink href={cancel}>Cancel</ButtonLink>
        </div>
      }
    >
      <Card title="When">
        <Field
          label="Expression"
          isCode
          required
          {...text('cron')}
          error={cron.error}
          hint="Minute, hour, day of month, month, day of week, after CRON_TZ=<zone> unless the zone is UTC. Or a word such as @daily."
        />
        {cron.answer && <NextFires of={cron.answer} />}
      </Card>
      <Card title="What it publishes">
        {children}
        <Field
          label="Destination"
          about={/^The destination|URL group/}
          required
          {...text('destination')}
          placeholder="https://example.com/report"
          hint="A URL, or the name of a URL group."
        />
        <Field
          label="Headers"
          about={/ is not a header; |^The header /}
          rows={3}
          isCode
          {...text('headers')}
          placeholder="X-Tenant: acme"
          hint={
            <>
              One per line. Those that begin with <code>Svc-</code> are settings.
            </>
          }
        />
        {body === undefined ? (
          <>
            <p class="hint">The body is redacted or not text, so it is not shown. It stays as it is.</p>
            <Checkbox
              label="Replace the body"
              checked={false}
              onInput={() => {
                onChange({ ...draft, body: '' });
              }}
            />
          </>
        ) : (
          <Field label="Body" rows={6} isCode {...text('body')} />
        )}
      </Card>
      <Card title="Settings">
        <div class="fields">
          <SettingFields
            form="schedule"
            texts={texts}
            onChange={(changed) => {
              onChange({ ...draft, texts: { ...texts, ...changed } });
            }}
            without={isNew ? [] : ['redact-fields']}
          />
        </div>
      </Card>
    </Form>
  );
}
