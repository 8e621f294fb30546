import { useState } from 'preact/hooks';
import type { Answer } from '../../../../lambdas/wire/answers.ts';
import { endpointsAdded, urlGroup } from '../../../../lambdas/wire/urlGroupAnswers.ts';
import { useMayWrite } from '../../access.ts';
import { ask, path } from '../../api/client.ts';
import { useAsked } from '../../api/useAsked.ts';
import { go, href } from '../../place.ts';
import { change, Opens, Loaded } from '../../ui/act.tsx';
import { ButtonLink, Card, countOf, Cut, Page, Secret } from '../../ui/basics.tsx';
import { TextField } from '../../ui/fields.tsx';
import { Headers } from '../../ui/body.tsx';
import { Confirm } from '../../ui/dialog.tsx';
import { fromLines, listsOf, toLines } from '../../ui/headerLines.ts';
import { CutMiddle, Table, type Column } from '../../ui/table.tsx';
import {
  draftOf,
  SignatureActions,
  SignatureCell,
  SignatureFields,
  signatureIn,
  type Endpoint,
  type Secrets,
} from './signature.tsx';

type Group = Answer<typeof urlGroup>;

const groups = ['url-groups'];

export function UrlGroup({ name }: { readonly name: string }) {
  const [secrets, setSecrets] = useState<Secrets>([]);
  const mayWrite = useMayWrite();
  const asked = useAsked(urlGroup, { path: path`v2/topics/${name}` });
  const { answer: group, again: then } = asked;
  return (
    <Page
      title={name}
      back={{ href: href(groups), name: 'URL groups' }}
      actions={
        mayWrite &&
        group && (
          <>
            <ButtonLink kind="main" href={href(['publish'], { destination: name })}>
              Publish to it
            </ButtonLink>
            <Opens name="Delete">{(close) => <DeleteGroup group={group} onClose={close} />}</Opens>
          </>
        )
      }
    >
      <Loaded of={asked}>
        {(group) => (
          <>
            <Card
              title="Endpoints"
              actions={
                mayWrite && (
                  <Opens name="Add endpoint" then={then}>
                    {(close) => <EditEndpoint group={group} onSecrets={setSecrets} onClose={close} />}
                  </Opens>
                )
              }
            >
              {secrets.map((secret) => (
                <Secret
                  key={secret.signingSecret}
                  title={`The signing secret of ${keyOf(secret)}`}
                  text={secret.signingSecret}
                  copy="Copy the secret"
                  onClose={() => {
                    setSecrets(secrets.filter((other) => other !== secret));
                  }}
                />
              ))}
              <Table
                caption={`Endpoints of ${name}`}
                rows={group.endpoints}
                keyOf={keyOf}
                columns={[
                  { head: 'Name', isWide: true, cell: (endpoint) => <Cut text={endpoint.name ?? '–'} /> },
                  { head: 'URL', isWide: true, cell: ({ url }) => <CutMiddle text={url} /> },
                  ...(group.endpoints.some(({ signature }) => signature !== undefined)
                    ? [{ head: 'Signature', cell: SignatureCell }]
                    : []),
                  ...(mayWrite ? [actionsOf(group, then, setSecrets)] : []),
                ]}
              />
            </Card>
            <Card
              title="Default headers"
              actions={
                mayWrite && (
                  <Opens name="Edit headers" then={then}>
                    {(close) => <EditHeaders group={group} onClose={close} />}
                  </Opens>
                )
              }
            >
              <p class="hint">Every message to the group has them, unless its request overrides them.</p>
              <Headers of={group.headers} label="Default headers" />
            </Card>
          </>
        )}
      </Loaded>
    </Page>
  );
}

const keyOf = ({ name, url }: Pick<Endpoint, 'name' | 'url'>): string => name ?? url;

const actionsOf = (
  group: Group,
  then: () => void,
  onSecrets: (secrets: Secrets) => void,
): Column<Endpoint> => ({
  head: 'Actions',
  isNumber: true,
  cell: (endpoint) => (
    <span>
      <Opens name="Edit" kind="quiet" label={`Edit ${keyOf(endpoint)}`} then={then}>
        {(close) => <EditEndpoint group={group} endpoint={endpoint} onSecrets={onSecrets} onClose={close} />}
      </Opens>
      {endpoint.signature && (
        <SignatureActions
          group={group.name}
          endpoint={endpoint}
          label={keyOf(endpoint)}
          onSecrets={onSecrets}
          then={then}
        />
      )}
      <Opens name="Remove" kind="quiet" label={`Remove ${keyOf(endpoint)}`} then={then}>
        {(close) => <RemoveEndpoint group={group} endpoint={endpoint} onClose={close} />}
      </Opens>
    </span>
  ),
});

interface DialogProps {
  readonly group: Group;
  readonly onClose: (isDone: boolean) => void;
}

const endpointsOf = ({ name }: Group): string => path`v2/topics/${name}/endpoints`;

function DeleteGroup({ group: { name, endpoints }, onClose }: DialogProps) {
  const work = async (): Promise<string> => {
    await change({ method: 'DELETE', path: path`v2/topics/${name}` });
    go(href(groups));
    return `The URL group “${name}” is deleted.`;
  };
  return (
    <Confirm title={`Delete “${name}”?`} yes="Delete the group" isDangerous work={work} onClose={onClose}>
      <p>
        It has {countOf(endpoints.length, 'endpoint')}. Nothing can be published to it after that, not even by
        a schedule. Published messages are delivered.
      </p>
    </Confirm>
  );
}

function EditEndpoint({
  group,
  endpoint,
  onSecrets,
  onClose,
}: DialogProps & {
  readonly endpoint?: Endpoint;
  readonly onSecrets: (secrets: Secrets) => void;
}) {
  const [url, setUrl] = useState(endpoint?.url ?? '');
  const [given, setGiven] = useState(endpoint?.name ?? '');
  const [draft, setDraft] = useState(() => draftOf(endpoint ?? {}));
  const work = async (): Promise<string> => {
    const name = given === '' ? undefined : given;
    const isNameKept = name !== undefined && name === endpoint?.name;
    // The API would replace the endpoint with this name.
    if (!isNameKept && name !== undefined && group.endpoints.some((other) => other.name === name)) {
      throw new Error(`There is an endpoint “${name}” already.`);
    }
    const added = await ask(endpointsAdded, {
      method: 'POST',
      path: endpointsOf(group),
      body: { endpoints: [{ url, name, signature: signatureIn(draft) }] },
    });
    onSecrets(added.endpoints ?? []);
    // The API identifies an endpoint by its name or its URL. If both have changed, it has added another endpoint, so the old
    // one is removed.
    if (endpoint !== undefined && !isNameKept && endpoint.url !== url) {
      await change({
        method: 'DELETE',
        path: endpointsOf(group),
        body: { endpoints: [{ url: endpoint.url, name: endpoint.name }] },
      });
    }
    return 'The endpoint is saved.';
  };
  return (
    <Confirm title={endpoint ? 'Edit endpoint' : 'Add endpoint'} yes="Save" work={work} onClose={onClose}>
      <TextField
        label="URL"
        about="url"
        type="url"
        placeholder="https://example.com/hook"
        value={url}
        onInput={setUrl}
        required
        autoFocus
      />
      <TextField
        label="Name"
        about={/^There is an endpoint|\.name\b/}
        value={given}
        onInput={setGiven}
        hint="Optional. It identifies the endpoint in logs."
      />
      <SignatureFields draft={draft} isSigned={endpoint?.signature !== undefined} onChange={setDraft} />
    </Confirm>
  );
}

function RemoveEndpoint({ group, endpoint, onClose }: DialogProps & { readonly endpoint: Endpoint }) {
  const isLast = group.endpoints.length === 1;
  const work = async (): Promise<string> => {
    await change({ method: 'DELETE', path: endpointsOf(group), body: { endpoints: [endpoint] } });
    if (isLast) go(href(groups));
    return 'The endpoint is removed.';
  };
  return (
    <Confirm title="Remove the endpoint?" yes="Remove" isDangerous work={work} onClose={onClose}>
      <p>
        <code>{endpoint.url}</code> no longer gets messages published to “{group.name}”.
        {isLast && ' It is the last one: the group is removed with it.'}
      </p>
    </Confirm>
  );
}

function EditHeaders({ group: { name, headers }, onClose }: DialogProps) {
  const [text, setText] = useState(() => toLines(headers));
  const work = async (): Promise<string> => {
    const body = { headers: listsOf(fromLines(text)) };
    await change({ method: 'PATCH', path: path`v2/topics/${name}`, body });
    return 'The default headers are saved.';
  };
  return (
    <Confirm title="Default headers" yes="Save" work={work} onClose={onClose}>
      <TextField
        label="Headers"
        about={/./}
        rows={6}
        isCode
        placeholder={'Svc-Retries: 3\nSvc-Forward-X-Tenant: acme'}
        value={text}
        onInput={setText}
        hint="One per line. They replace the earlier ones."
      />
    </Confirm>
  );
}
