import { useState } from 'preact/hooks';
import { messageInAnyState, publishAnswer } from '../../../../lambdas/wire/answers.ts';
import type { Place as FieldPlace } from '../../../../lambdas/options/option.ts';
import { useMayWrite } from '../../access.ts';
import { ask, baseUrl, path } from '../../api/client.ts';
import { useAsked } from '../../api/useAsked.ts';
import { href, type Place } from '../../place.ts';
import { Loaded } from '../../ui/resourcePage.tsx';
import { Button, bytes, Card, Choices, countOf, Empty, Page } from '../../ui/basics.tsx';
import { Form } from '../../ui/dialog.tsx';
import { Field } from '../../ui/fields.tsx';
import { bytesOf } from '../../ui/base64.ts';
import { Body } from '../../ui/body.tsx';
import { MoreFields, SettingFields } from '../../ui/settings.tsx';
import { callbacks, inLabels, type CallbackName } from '../../ui/settingTexts.ts';
import { showAt } from '../../ui/toast.tsx';
import { clientCodeOf } from './clientCode.ts';
import { curlOf } from './curl.ts';
import { draftOf, emptyDraft, fieldOf, problemsOf, requestOf, type Draft, type Problems } from './draft.ts';

/** `?message=<id>` fills in the form from a message, `?destination=` only its destination. */
export function Publish({ place }: { readonly place: Place }) {
  const mayWrite = useMayWrite();
  const messageId = place.query.get('message');
  const source = useAsked(
    messageInAnyState,
    messageId === null ? undefined : { path: path`v2/messages/${messageId}`, query: { state: 'ALL' } },
  );
  return (
    <Page title="Publish">
      {!mayWrite ? (
        <Empty title="This token can only read." />
      ) : messageId === null ? (
        <DraftForm initial={{ ...emptyDraft, destination: place.query.get('destination') ?? '' }} />
      ) : (
        <Loaded of={source}>
          {(message) => <DraftForm key={messageId} initial={draftOf(message, Date.now())} />}
        </Loaded>
      )}
    </Page>
  );
}

type TextName = 'destination' | 'contentType' | 'headers' | 'body' | 'queue';

function DraftForm({ initial }: { readonly initial: Draft }) {
  const [draft, setDraft] = useState(initial);
  const [problems, setProblems] = useState<Problems>({});
  // A field's problem is removed when the field changes.
  const forget = (changed: object): void => {
    setProblems(Object.fromEntries(Object.entries(problems).filter(([name]) => !(name in changed))));
  };
  const change = (changed: Partial<Draft>): void => {
    setDraft({ ...draft, ...changed });
    forget(changed);
  };
  const settings = (of: { readonly place: FieldPlace } | { readonly callback: CallbackName }) => (
    <SettingFields
      form="publish"
      {...of}
      texts={draft.settings}
      onChange={(changed) => {
        setDraft({ ...draft, settings: { ...draft.settings, ...changed } });
        forget(changed);
      }}
      problems={problems}
    />
  );
  const submit = async (): Promise<undefined> => {
    const found = problemsOf(draft);
    setProblems(found);
    const [first] = Object.values(found);
    if (first !== undefined) throw new Error(first);
    try {
      tell(await send(draft));
    } catch (error) {
      const field = error instanceof Error ? fieldOf(error.message, draft.settings) : undefined;
      if (error instanceof Error && field !== undefined) setProblems({ [field]: inLabels(error.message) });
      throw error;
    }
  };
  const text = (
    name: TextName,
    label: string,
    more: Partial<Omit<Parameters<typeof Field>[0], 'label' | 'error'>> = {},
  ) => (
    <Field
      label={label}
      value={draft[name]}
      onInput={(value) => {
        change({ [name]: value });
      }}
      error={problems[name]}
      {...more}
    />
  );
  return (
    <Form
      class="publish"
      noValidate
      work={submit}
      yes="Publish"
      end={(button, error) => (
        <div class="aside">
          {button}
          {error}
          <Code draft={draft} />
        </div>
      )}
    >
      <Card title="Message">
        <div class="destination">
          {settings({ place: 'destination' })}
          {text('destination', 'Destination', {
            required: true,
            placeholder: 'https://example.com/orders',
            hint: 'A URL, or the name of a URL group. https://echo.invalid/ answers with the request itself.',
          })}
        </div>
        {draft.bodyBase64 === undefined ? (
          text('body', 'Body', { rows: 8, isCode: true })
        ) : (
          <div class="row">
            <p>
              The body is {bytes(bytesOf(draft.bodyBase64).length)} that are not text. They are sent
              unchanged.
            </p>
            <Button
              kind="quiet"
              onClick={() => {
                change({ bodyBase64: undefined });
              }}
            >
              Write another body
            </Button>
          </div>
        )}
        <div class="fields">
          {text('contentType', 'Content type', { hint: 'Sent with a body.' })}
          {settings({ place: 'message' })}
        </div>
        {text('headers', 'Headers', {
          rows: 3,
          isCode: true,
          placeholder: 'X-Tenant: acme',
          hint: (
            <>
              One per line. Those that begin with <code>Svc-</code> are settings of the delivery, such as{' '}
              <code>Svc-Callback-Retries: 1</code>.
            </>
          ),
        })}
      </Card>
      <Card title="Delivery">
        <div class="fields">{settings({ place: 'delivery' })}</div>
      </Card>
      <Card title="Queue and flow control">
        <div class="fields">
          {text('queue', 'Queue', { placeholder: 'orders' })}
          {settings({ place: 'lane' })}
        </div>
      </Card>
      <Card title="Callbacks and duplicates">
        <div class="fields">{settings({ place: 'after' })}</div>
        {callbacks.map((callback) => (
          <MoreFields key={callback} name={`Delivery of the ${callback.replace('-', ' ')}`}>
            {settings({ callback })}
          </MoreFields>
        ))}
      </Card>
    </Form>
  );
}

const writers = { curl: curlOf, TypeScript: clientCodeOf };
const writerNames = ['curl', 'TypeScript'] as const;

function Code({ draft }: { readonly draft: Draft }) {
  const [name, setName] = useState<keyof typeof writers>('curl');
  const destination = draft.destination.trim();
  const isEncoded = name === 'curl' && !requestOf(draft).path.endsWith(`/${destination}`);
  return (
    <Card
      title="As code"
      actions={
        <Choices
          of={writerNames.map((one) => [one, one] as const)}
          chosen={name}
          onChoose={(chosen) => {
            setName(writerNames.find((one) => one === chosen) ?? name);
          }}
        />
      }
    >
      <Body text={writers[name](draft, baseUrl)} label={name} />
      <p class="hint">
        The token is the variable <code>SVC_TOKEN</code>.{' '}
        {isEncoded && (
          <>
            The destination is encoded in the command, so that no gateway changes it; it is{' '}
            <code>{destination}</code>
          </>
        )}
      </p>
    </Card>
  );
}

async function send(draft: Draft) {
  const { path, headers, query, body, bodyBase64 } = requestOf(draft);
  return ask(publishAnswer, {
    method: 'POST',
    path,
    headers,
    query: new URLSearchParams(query.map(([name, value]) => [name, value])),
    // As bytes, because a browser would add a content type to a text.
    body: bodyBase64 === undefined ? body && new TextEncoder().encode(body) : bytesOf(bodyBase64),
  });
}

function tell(answer: Awaited<ReturnType<typeof send>>): void {
  if ('messageId' in answer) {
    const { messageId, deduplicated } = answer;
    const sentence = deduplicated === true ? 'A duplicate. This is the first message.' : 'Published.';
    showAt(href(['messages', messageId]), sentence);
  } else {
    const messageIds = answer.map(({ messageId }) => messageId).join(',');
    showAt(href(['messages'], { messageIds }), `${countOf(answer.length, 'message')} published.`);
  }
}
