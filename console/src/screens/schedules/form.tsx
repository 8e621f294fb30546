import { useState } from 'preact/hooks';
import { schedule, scheduled, type Answer } from '../../../../lambdas/wire/answers.ts';
import { writeOptions } from '../../../../lambdas/options/options.ts';
import { isRedacted } from '../../../../lambdas/options/redaction.ts';
import { ask, path, Refusal } from '../../api/client.ts';
import { isSettled, useOnceTrue } from '../../api/useAsked.ts';
import { go, href } from '../../place.ts';
import { ResourcePage } from '../../ui/resourcePage.tsx';
import { textOf } from '../../ui/base64.ts';
import { FieldsOf, type FormFields, type FormTexts } from '../../ui/action.tsx';
import { ButtonLink, Card, Loading, Page } from '../../ui/basics.tsx';
import { Form } from '../../ui/dialog.tsx';
import { Checkbox } from '../../ui/fields.tsx';
import { fromLines, toLines } from '../../ui/headerLines.ts';
import { parsed } from '../../api/json.ts';
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

type One = Answer<typeof schedule>;

const list = href(['schedules']);

const fields = {
  cron: {
    label: 'Expression',
    isCode: true,
    required: true,
    hint: 'Minute, hour, day of month, month, day of week, after CRON_TZ=<zone> unless the zone is UTC. Or a word such as @daily.',
  },
  id: {
    label: 'Id',
    about: /^There is a schedule|Schedule-Id\b/i,
    placeholder: 'nightly-report',
    hint: 'Leave empty for a random id.',
  },
  destination: {
    label: 'Destination',
    about: /^The destination|URL group/,
    required: true,
    placeholder: 'https://example.com/report',
    hint: 'A URL, or the name of a URL group.',
  },
  headers: {
    label: 'Headers',
    about: / is not a header; |^The header /,
    rows: 3,
    isCode: true,
    placeholder: 'X-Tenant: acme',
    hint: (
      <>
        One per line. Those that begin with <code>Svc-</code> are settings.
      </>
    ),
  },
  body: { label: 'Body', rows: 6, isCode: true },
} satisfies FormFields<string>;

type Texts = FormTexts<keyof typeof fields>;

interface Draft {
  readonly texts: Texts;
  readonly settings: SettingTexts;
  /** Whether the body is redacted or not text. Then it is not changed. */
  readonly isBodyHidden: boolean;
}

async function create({ texts: { id, cron, destination, headers: lines, body }, settings }: Draft) {
  if (await isTaken(id.trim())) {
    throw new Error(`There is a schedule “${id.trim()}” already. Edit that one, or choose another id.`);
  }
  const type = parsed(body) !== undefined ? 'application/json' : 'text/plain';
  const { headers, query } = sentAs([
    ...(id.trim() === '' ? [] : [['Svc-Schedule-Id', id.trim()] as const]),
    ['Svc-Cron', cron],
    ...settingHeaders(settings),
    ...fromLines(lines).map(([name, value]) => [settingOf(name), value] as const),
  ]);
  return ask(scheduled, {
    method: 'POST',
    path: path`v2/schedules/${destination.trim()}`,
    headers: body === '' ? headers : [...headers, ['Content-Type', type]],
    query: new URLSearchParams([...query]),
    // Sent as bytes: a browser would add a content type to a text.
    body: body === '' ? undefined : new TextEncoder().encode(body),
  });
}

export const NewSchedule = () => (
  <Page title="New schedule" back={{ href: list, name: 'Schedules' }}>
    <ScheduleForm />
  </Page>
);

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
    {(of) => <ScheduleForm of={of} />}
  </ResourcePage>
);

function draftOf(of: One | undefined): Draft {
  const cron = of?.cron ?? `CRON_TZ=${viewersZone()} 0 9 * * MON-FRI`;
  if (of === undefined) {
    const texts = { id: '', cron, destination: '', headers: '', body: '' };
    return { texts, settings: {}, isBodyHidden: false };
  }
  const { scheduleId: id, destination, header, body = '', bodyBase64 } = of;
  const text = bodyBase64 === undefined ? body : textOf(bodyBase64);
  const isBodyHidden = text === undefined || isRedacted(text);
  return {
    texts: { id, cron, destination, headers: toLines(header), body: isBodyHidden ? '' : text },
    settings: textsOf({
      ...writeOptions({ ...of, maxRetries: of.retries }),
      delay: of.delay === undefined ? undefined : `${of.delay}s`,
      'queue-name': of.queueName,
    }),
    isBodyHidden,
  };
}

/** Makes the request that changes a schedule. An empty value removes a header. */
function changeOf(before: Draft, after: Draft) {
  const settings = { before: settingsOf(before.settings), after: settingsOf(after.settings) };
  const { cron, destination, body } = after.texts;
  const names = [...new Set([...settings.before.keys(), ...settings.after.keys()])];
  const headers: [name: string, values: string | readonly string[]][] = [
    ...(cron === before.texts.cron ? [] : [['Svc-Cron', cron] as [string, string]]),
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
    // The header may have been set under either name.
    if (!has.has(name)) headers.push([settingOf(name), ''], [name, '']);
  }
  const isBodySent = before.isBodyHidden ? !after.isBodyHidden : body !== before.texts.body;
  return {
    ...(destination !== before.texts.destination && { destination: destination.trim() }),
    ...(isBodySent && { body }),
    headers: Object.fromEntries(headers),
  };
}

/** The headers of a draft: values by lower-case name. */
function headersOf({ texts: { headers } }: Draft): ReadonlyMap<string, readonly string[]> {
  const groups = Map.groupBy(fromLines(headers), ([name]) => name.toLowerCase());
  return new Map([...groups].map(([name, lines]) => [name, lines.map(([, value]) => value)]));
}

/** The name that sets a header of the delivery. */
const settingOf = (name: string): string => (isSetting(name) ? name : `Svc-Forward-${name}`);

function ScheduleForm({ of }: { readonly of?: One }) {
  const [before] = useState(() => draftOf(of));
  const [draft, setDraft] = useState(before);
  const { texts, settings, isBodyHidden } = draft;
  const cron = useExplained(texts.cron);
  const save = async (): Promise<string> => {
    const { scheduleId } =
      of === undefined
        ? await create(draft)
        : await ask(scheduled, {
            method: 'PATCH',
            path: path`v2/schedules/${of.scheduleId}`,
            body: changeOf(before, draft),
          });
    go(hrefOfSchedule(scheduleId));
    return 'The schedule has been saved.';
  };
  const shown = (...only: readonly (keyof Texts)[]) => (
    <FieldsOf
      fields={{ ...fields, cron: { ...fields.cron, error: cron.error?.sentence } }}
      only={only}
      texts={texts}
      onChange={(changed) => {
        setDraft({ ...draft, texts: changed });
      }}
    />
  );
  // Waits for the explanation of the expression, which would otherwise move the fields.
  if (!useOnceTrue(isSettled(cron))) return <Loading />;
  return (
    <Form
      class="stack"
      work={save}
      yes={of ? 'Save' : 'Create'}
      isReady={cron.error === undefined}
      end={(submit, error) => (
        <div class="row">
          {submit}
          {error}
          <ButtonLink href={of ? hrefOfSchedule(of.scheduleId) : list}>Cancel</ButtonLink>
        </div>
      )}
    >
      <Card title="When">
        {shown('cron')}
        {cron.answer && <NextFires of={cron.answer} />}
      </Card>
      <Card title="Message to publish">
        {of && (
          <p class="hint">
            Fields that you do not change keep their values, including those that are not shown: redacted
            values, passwords in URLs, and the settings of callbacks.
          </p>
        )}
        {shown(...(of ? [] : ['id' as const]), 'destination', 'headers')}
        {isBodyHidden ? (
          <>
            <p class="hint">The body is redacted or not text, so it is not shown. It stays as it is.</p>
            <Checkbox
              label="Replace the body"
              checked={false}
              onInput={() => {
                setDraft({ ...draft, isBodyHidden: false });
              }}
            />
          </>
        ) : (
          shown('body')
        )}
      </Card>
      <Card title="Settings">
        <div class="fields">
          <SettingFields
            form="schedule"
            texts={settings}
            onChange={(changed) => {
              setDraft({ ...draft, settings: { ...settings, ...changed } });
            }}
            without={of ? ['redact-fields'] : []}
          />
        </div>
      </Card>
    </Form>
  );
}
