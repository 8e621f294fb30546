import { useState } from 'preact/hooks';
import type { Answer } from '../../../../lambdas/wire/answers.ts';
import { endpointSecrets, endpointsAdded, urlGroup } from '../../../../lambdas/wire/urlGroupAnswers.ts';
import { useMayWrite } from '../../access.ts';
import { ask, path } from '../../api/client.ts';
import { href } from '../../place.ts';
import { ActionForm, change, Deletes, type FormFields } from '../../ui/action.tsx';
import { ResourcePage } from '../../ui/resourcePage.tsx';
import { ButtonLink, Card, countOf, Secret } from '../../ui/basics.tsx';
import { Headers } from '../../ui/body.tsx';
import { fromLines, listsOf, toLines } from '../../ui/headerLines.ts';
import { Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { Deliveries } from '../hosts/holds.tsx';

type Group = Answer<typeof urlGroup>;
type Endpoint = Group['endpoints'][number];
type Secrets = Answer<typeof endpointSecrets>['endpoints'];

const groups = href(['url-groups']);

export const UrlGroup = ({ name }: { readonly name: string }) => (
  <ResourcePage
    shape={urlGroup}
    path={path`v2/topics/${name}`}
    title={name}
    back={{ href: groups, name: 'URL groups' }}
    actions={({ endpoints }) => (
      <>
        <ButtonLink kind="main" href={href(['publish'], { destination: name })}>
          Publish to it
        </ButtonLink>
        <Deletes
          name="Delete"
          title={`Delete “${name}”?`}
          yes="Delete the group"
          effect={`It has ${countOf(endpoints.length, 'endpoint')}. After that, nothing can be published to it, not even by a schedule. Messages that are already published are still delivered.`}
          request={{ path: path`v2/topics/${name}` }}
          said={`The URL group “${name}” has been deleted.`}
          leadsTo={groups}
        />
      </>
    )}
  >
    {(group, then) => (
      <>
        <Deliveries of={{ kind: 'urlGroup', name }} text="Hold deliveries to this group" />
        <Endpoints group={group} then={then} />
        <DefaultHeaders group={group} then={then} />
      </>
    )}
  </ResourcePage>
);

const keyOf = ({ name, url }: Pick<Endpoint, 'name' | 'url'>): string => name ?? url;

interface GroupProps {
  readonly group: Group;
  readonly then: () => void;
}

function Endpoints(props: GroupProps) {
  const { group } = props;
  const [secrets, setSecrets] = useState<Secrets>([]);
  const mayWrite = useMayWrite();
  const actionsOn = (endpoint: Endpoint) => (
    <span>
      <EditEndpoint {...props} endpoint={endpoint} onSecrets={setSecrets} />
      {endpoint.signature && <SignatureActions {...props} endpoint={endpoint} onSecrets={setSecrets} />}
      <RemoveEndpoint {...props} endpoint={endpoint} />
    </span>
  );
  return (
    <Card title="Endpoints" actions={mayWrite && <EditEndpoint {...props} onSecrets={setSecrets} />}>
      {secrets.map((secret) => (
        <Secret
          key={secret.signingSecret}
          title={`The signing secret of ${keyOf(secret)}`}
          text={secret.signingSecret}
          copy="Copy the secret"
        />
      ))}
      <Table
        caption={`Endpoints of ${group.name}`}
        rows={group.endpoints}
        keyOf={keyOf}
        columns={[
          { head: 'Name', text: ({ name }) => name ?? '–' },
          { head: 'URL', address: ({ url }) => url },
          ...(group.endpoints.some(({ signature }) => signature !== undefined)
            ? [{ head: 'Signature', cell: SignatureCell }]
            : []),
          ...(mayWrite ? [{ head: 'Actions', isNumber: true, cell: actionsOn }] : []),
        ]}
      />
    </Card>
  );
}

const endpointsOf = ({ name }: Group): string => path`v2/topics/${name}/endpoints`;

interface EditProps extends GroupProps {
  readonly endpoint?: Endpoint;
  readonly onSecrets: (secrets: Secrets) => void;
}

const EditEndpoint = ({ group, endpoint, onSecrets, then }: EditProps) => (
  <ActionForm
    {...(endpoint
      ? { name: 'Edit', kind: 'quiet', label: `Edit ${keyOf(endpoint)}`, title: 'Edit endpoint' }
      : { name: 'Add endpoint', title: 'Add endpoint' })}
    yes="Save"
    then={then}
    fields={{
      url: {
        label: 'URL',
        type: 'url',
        value: endpoint?.url,
        placeholder: 'https://example.com/hook',
        required: true,
        autoFocus: true,
      },
      given: {
        label: 'Name',
        about: /^There is an endpoint|\.name\b/,
        value: endpoint?.name,
        hint: 'Optional. It identifies the endpoint in logs.',
      },
      ...signatureFields(endpoint ?? {}),
    }}
    work={async ({ url, given, header, encoding, prefix }) => {
      const name = given === '' ? undefined : given;
      const isNameKept = name !== undefined && name === endpoint?.name;
      // The API would replace the other endpoint with this name.
      if (!isNameKept && name !== undefined && group.endpoints.some((other) => other.name === name)) {
        throw new Error(`There is an endpoint “${name}” already.`);
      }
      const signature =
        header === '' ? undefined : { header, encoding, prefix: prefix === '' ? undefined : prefix };
      const body = { endpoints: [{ url, name, signature }] };
      const added = await ask(endpointsAdded, { method: 'POST', path: endpointsOf(group), body });
      onSecrets(added.endpoints ?? []);
      // Name and URL have changed, so the API has added another endpoint. The old one is removed.
      if (endpoint !== undefined && !isNameKept && endpoint.url !== url) {
        await change({
          method: 'DELETE',
          path: endpointsOf(group),
          body: { endpoints: [{ url: endpoint.url, name: endpoint.name }] },
        });
      }
      return 'The endpoint has been saved.';
    }}
  />
);

function RemoveEndpoint({ group, endpoint, then }: GroupProps & { readonly endpoint: Endpoint }) {
  const isLast = group.endpoints.length === 1;
  return (
    <Deletes
      name="Remove"
      kind="quiet"
      label={`Remove ${keyOf(endpoint)}`}
      title="Remove the endpoint?"
      yes="Remove"
      effect={[
        <code>{endpoint.url}</code>,
        ` no longer gets messages published to “${group.name}”.`,
        isLast && ' It is the last one: the group is removed with it.',
      ]}
      request={{ path: endpointsOf(group), body: { endpoints: [endpoint] } }}
      said="The endpoint has been removed."
      {...(isLast ? { leadsTo: groups } : { then })}
    />
  );
}

const DefaultHeaders = ({ group: { name, headers }, then }: GroupProps) => (
  <Card
    title="Default headers"
    actions={
      useMayWrite() && (
        <ActionForm
          name="Edit headers"
          title="Default headers"
          yes="Save"
          then={then}
          fields={{
            headers: {
              label: 'Headers',
              about: /./,
              value: toLines(headers),
              rows: 6,
              isCode: true,
              placeholder: 'Svc-Retries: 3\nSvc-Forward-X-Tenant: acme',
              hint: 'One per line. They replace the earlier ones.',
            },
          }}
          work={async ({ headers: text }) => {
            const body = { headers: listsOf(fromLines(text)) };
            await change({ method: 'PATCH', path: path`v2/topics/${name}`, body });
            return 'The default headers have been saved.';
          }}
        />
      )
    }
  >
    <p class="hint">Every message to the group has them, unless its request overrides them.</p>
    <Headers of={headers} label="Default headers" />
  </Card>
);

const isGiven = ({ header }: Readonly<Record<string, string>>): boolean => header !== '';

/** The fields of a signature. An existing signature cannot be edited. */
const signatureFields = ({ signature }: Partial<Endpoint>) =>
  ({
    header: {
      label: 'Signature header',
      about: 'signature.header',
      value: signature?.header,
      placeholder: 'X-Acme-Signature',
      required: signature !== undefined,
      hint: signature
        ? 'To remove the header, remove the endpoint and add it again.'
        : 'Optional: for a receiver that verifies an HMAC-SHA-256 of the body in its own header.',
    },
    encoding: {
      label: 'Its value is',
      value: signature?.encoding ?? 'hex',
      isShown: isGiven,
      options: [
        ['hex', 'Hexadecimal'],
        ['base64', 'Base64'],
      ],
    },
    prefix: {
      label: 'Prefix',
      about: 'signature.prefix',
      value: signature?.prefix,
      isShown: isGiven,
      placeholder: 'sha256=',
      hint: 'Optional.',
    },
  }) satisfies FormFields<string>;

function SignatureCell({ signature }: Endpoint) {
  if (signature === undefined) return <>–</>;
  return (
    <>
      <code>{signature.header}</code>
      {signature.mustRotate && (
        <p class="hint">Rotate it: the deployment’s master secret was rotated, so this secret is lost.</p>
      )}
      {signature.overlapEndsAt !== undefined && (
        <p class="hint">
          The replaced secret expires <Time at={signature.overlapEndsAt} />
        </p>
      )}
    </>
  );
}

/** Buttons that rotate the secret of an endpoint's signature, and end the time in which both secrets sign. */
function SignatureActions({ group, endpoint, onSecrets, then }: Required<EditProps>) {
  const label = keyOf(endpoint);
  const place = `${endpointsOf(group)}/rotate-signature`;
  const endpoints = [{ url: endpoint.url, name: endpoint.name }];
  return (
    <>
      <ActionForm
        name="Rotate"
        kind="quiet"
        label={`Rotate the secret of ${label}`}
        title={`Rotate the secret of ${label}?`}
        yes="Rotate"
        effect="Until the overlap ends, the header has a value for each of the two secrets. Give the new one to the receiver a minute after this, at the earliest."
        then={then}
        fields={{ overlap: { label: 'Overlap', value: '24h', required: true, hint: 'From 0s to 7d.' } }}
        work={async ({ overlap }) => {
          const body = { endpoints, overlap };
          const rotated = await ask(endpointSecrets, { method: 'POST', path: place, body });
          onSecrets(rotated.endpoints);
          return 'The secret has been rotated.';
        }}
      />
      {endpoint.signature?.overlapEndsAt !== undefined && (
        <Deletes
          name="End overlap"
          kind="quiet"
          label={`End the overlap of ${label}`}
          title={`End the overlap of ${label}?`}
          yes="End it"
          effect="Within a minute, deliveries are signed only with the newest secret."
          request={{ path: place, body: { endpoints } }}
          said="The overlap has ended."
          then={then}
        />
      )}
    </>
  );
}
