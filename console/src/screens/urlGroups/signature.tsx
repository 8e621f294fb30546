/** The signature that an endpoint of a URL group can have in a separate header. */
import type { Answer } from '../../../../lambdas/wire/answers.ts';
import { endpointSecrets, type urlGroup } from '../../../../lambdas/wire/urlGroupAnswers.ts';
import { ask, path } from '../../api/client.ts';
import { sends, ActionForm, type FormFields } from '../../ui/action.tsx';
import { Time } from '../../ui/time.tsx';

export type Endpoint = Answer<typeof urlGroup>['endpoints'][number];
export type Secrets = Answer<typeof endpointSecrets>['endpoints'];

const isGiven = ({ header }: Readonly<Record<string, string>>): boolean => header !== '';

/** The fields of a signature. An endpoint keeps the one that it has. */
export const signatureFields = ({ signature }: Partial<Endpoint>) =>
  ({
    header: {
      label: 'Signature header',
      about: 'signature.header',
      value: signature?.header,
      placeholder: 'X-Acme-Signature',
      required: signature !== undefined,
      hint: signature
        ? 'To have none, remove the endpoint and add it again.'
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

/** The header of an endpoint's signature, and its state. */
export function SignatureCell({ signature }: Endpoint) {
  if (signature === undefined) return <>–</>;
  return (
    <>
      <code>{signature.header}</code>
      {signature.mustRotate && (
        <p class="hint">Rotate it: the deployment’s master secret was rotated, so this secret is lost.</p>
      )}
      {signature.overlapEndsAt !== undefined && (
        <p class="hint">
          A replaced secret ends <Time at={signature.overlapEndsAt} />
        </p>
      )}
    </>
  );
}

interface ActionsProps {
  readonly group: string;
  readonly endpoint: Endpoint;
  readonly label: string;
  readonly onSecrets: (secrets: Secrets) => void;
  readonly then: () => void;
}

/** Rotates the secret of an endpoint's signature, and ends the time in which both secrets sign. */
export function SignatureActions({ group, endpoint, label, onSecrets, then }: ActionsProps) {
  const place = path`v2/topics/${group}/endpoints/rotate-signature`;
  const endpoints = [{ url: endpoint.url, name: endpoint.name }];
  return (
    <>
      <ActionForm
        name="Rotate"
        kind="quiet"
        label={`Rotate the secret of ${label}`}
        title={`Rotate the secret of ${label}?`}
        yes="Rotate"
        then={then}
        fields={{ overlap: { label: 'Overlap', value: '24h', required: true, hint: 'From 0s to 7d.' } }}
        work={async ({ overlap }) => {
          const body = { endpoints, overlap };
          const rotated = await ask(endpointSecrets, { method: 'POST', path: place, body });
          onSecrets(rotated.endpoints);
          return 'The secret is rotated.';
        }}
      >
        <p>
          Until the overlap ends, the header has a value for each of the two secrets. Give the new one to the
          receiver a minute after this, at the earliest.
        </p>
      </ActionForm>
      {endpoint.signature?.overlapEndsAt !== undefined && (
        <ActionForm
          name="End overlap"
          kind="quiet"
          label={`End the overlap of ${label}`}
          title={`End the overlap of ${label}?`}
          yes="End it"
          isDangerous
          then={then}
          work={sends({ method: 'DELETE', path: place, body: { endpoints } }, 'The overlap has ended.')}
        >
          <p>Within a minute, deliveries are signed only with the newest secret.</p>
        </ActionForm>
      )}
    </>
  );
}
