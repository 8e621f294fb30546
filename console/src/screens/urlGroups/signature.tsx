/** The signature that an endpoint of a URL group can have in a separate header. */
import { useState } from 'preact/hooks';
import type { Answer } from '../../../../lambdas/wire/answers.ts';
import { endpointSecrets, type urlGroup } from '../../../../lambdas/wire/urlGroupAnswers.ts';
import { ask, path } from '../../api/client.ts';
import { change, Opens } from '../../ui/act.tsx';
import { Confirm } from '../../ui/dialog.tsx';
import { SelectField, TextField } from '../../ui/fields.tsx';
import { Time } from '../../ui/time.tsx';

export type Endpoint = Answer<typeof urlGroup>['endpoints'][number];
export type Secrets = Answer<typeof endpointSecrets>['endpoints'];

export interface SignatureDraft {
  readonly header: string;
  readonly encoding: string;
  readonly prefix: string;
}

export const draftOf = ({ signature }: Partial<Endpoint>): SignatureDraft => ({
  header: signature?.header ?? '',
  encoding: signature?.encoding ?? 'hex',
  prefix: signature?.prefix ?? '',
});

export const signatureIn = ({ header, encoding, prefix }: SignatureDraft) =>
  header === '' ? undefined : { header, encoding, prefix: prefix === '' ? undefined : prefix };

interface FieldsProps {
  readonly draft: SignatureDraft;
  /** Whether the endpoint already has a signature, which it keeps. */
  readonly isSigned: boolean;
  readonly onChange: (draft: SignatureDraft) => void;
}

export const SignatureFields = ({ draft, isSigned, onChange }: FieldsProps) => (
  <>
    <TextField
      label="Signature header"
      about="signature.header"
      value={draft.header}
      onInput={(header) => {
        onChange({ ...draft, header });
      }}
      placeholder="X-Acme-Signature"
      required={isSigned}
      hint={
        isSigned
          ? 'To have none, remove the endpoint and add it again.'
          : 'Optional: for a receiver that verifies an HMAC-SHA-256 of the body in its own header.'
      }
    />
    {draft.header !== '' && (
      <>
        <SelectField
          label="Its value is"
          value={draft.encoding}
          onInput={(encoding) => {
            onChange({ ...draft, encoding });
          }}
          options={[
            ['hex', 'Hexadecimal'],
            ['base64', 'Base64'],
          ]}
        />
        <TextField
          label="Prefix"
          about="signature.prefix"
          value={draft.prefix}
          onInput={(prefix) => {
            onChange({ ...draft, prefix });
          }}
          placeholder="sha256="
          hint="Optional."
        />
      </>
    )}
  </>
);

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
export const SignatureActions = ({ label, then, ...props }: ActionsProps) => (
  <>
    <Opens name="Rotate" kind="quiet" label={`Rotate the secret of ${label}`} then={then}>
      {(close) => <Rotate {...props} label={label} onClose={close} />}
    </Opens>
    {props.endpoint.signature?.overlapEndsAt !== undefined && (
      <Opens name="End overlap" kind="quiet" label={`End the overlap of ${label}`} then={then}>
        {(close) => <EndOverlap {...props} label={label} onClose={close} />}
      </Opens>
    )}
  </>
);

type DialogProps = Omit<ActionsProps, 'then'> & { readonly onClose: (isDone: boolean) => void };

const place = (group: string): string => path`v2/topics/${group}/endpoints/rotate-signature`;
const bodyOf = ({ url, name }: Endpoint) => ({ endpoints: [{ url, name }] });

function Rotate({ group, endpoint, label, onSecrets, onClose }: DialogProps) {
  const [overlap, setOverlap] = useState('24h');
  const work = async (): Promise<string> => {
    const body = { ...bodyOf(endpoint), overlap };
    const { endpoints } = await ask(endpointSecrets, { method: 'POST', path: place(group), body });
    onSecrets(endpoints);
    return 'The secret is rotated.';
  };
  return (
    <Confirm title={`Rotate the secret of ${label}?`} yes="Rotate" work={work} onClose={onClose}>
      <p>
        Until the overlap ends, the header has a value for each of the two secrets. Give the new one to the
        receiver a minute after this, at the earliest.
      </p>
      <TextField
        label="Overlap"
        about="overlap"
        value={overlap}
        onInput={setOverlap}
        required
        hint="From 0s to 7d."
      />
    </Confirm>
  );
}

function EndOverlap({ group, endpoint, label, onClose }: DialogProps) {
  const work = async (): Promise<string> => {
    await change({ method: 'DELETE', path: place(group), body: bodyOf(endpoint) });
    return 'The overlap has ended.';
  };
  return (
    <Confirm title={`End the overlap of ${label}?`} yes="End it" isDangerous work={work} onClose={onClose}>
      <p>Within a minute, deliveries are signed only with the newest secret.</p>
    </Confirm>
  );
}
