import { Fragment } from 'preact';
import { useMemo } from 'preact/hooks';
import { bytesOf, textOf } from './base64.ts';
import { Button, bytes, Copy, useSwitch, Visible } from './basics.tsx';
import { pairsOf } from './headerLines.ts';
import { parsed } from '../api/json.ts';
import { isRedacted } from '../../../lambdas/options/redaction.ts';
import { isSecretHeader } from '../../../lambdas/wire/secretHeaders.ts';
import { useMayWrite } from '../access.ts';

interface BodyProps {
  readonly text?: string | undefined;
  /** The body in base64, if it is not text or too long as text. */
  readonly base64?: string | undefined;
  readonly type?: string | undefined;
  readonly label: string;
}

/** How many characters are shown at first, because megabytes of text make a page slow. */
const shownAtFirst = 20_000;

/** Shows JSON formatted, and other text unchanged. For other bodies, shows only the size and the type. */
export function Body({ text: given, base64, type, label }: BodyProps) {
  const [isWhole, showWhole] = useSwitch();
  const text = useMemo(() => (base64 === undefined ? given : textOf(base64)), [given, base64]);
  const shown = useMemo(() => laidOut(text ?? ''), [text]);
  if (base64 !== undefined && text === undefined) {
    return (
      <p class="binary">
        {bytes(bytesOf(base64).length)} of {type ?? 'unknown type'}, not shown because it is not text.{' '}
        <Copy text={base64}>Copy as base64</Copy>
      </p>
    );
  }
  if (text === undefined || text === '') return <p class="hint">Empty.</p>;
  if (isRedacted(text)) return <Redacted text={text} />;
  const isCut = !isWhole && shown.length > shownAtFirst;
  return (
    <div class="body">
      <pre class="code" tabIndex={0} role="region" aria-label={label}>
        <Isolated text={isCut ? shown.slice(0, shownAtFirst) : shown} />
      </pre>
      {decodedIn(text).map(([name, decoded]) => (
        <details key={name}>
          <summary>
            <code>{name}</code>, decoded
          </summary>
          <pre class="code" tabIndex={0} role="region" aria-label={`${name} of ${label}`}>
            <Isolated text={laidOut(decoded).slice(0, shownAtFirst)} />
          </pre>
        </details>
      ))}
      <div class="row end">
        {isCut && (
          <Button kind="quiet" onClick={showWhole}>
            Show all {bytes(new Blob([text]).size)}
          </Button>
        )}
        <Copy text={text} label={`Copy ${label}`} />
      </div>
    </div>
  );
}

const rightToLeft = /[\u0590-\u08FF\uFB1D-\uFEFC]/;
const strings = /("(?:[^"\\]|\\.)*")/;

/** Keeps a string that is written from right to left from reordering the characters around it. */
const Isolated = ({ text }: { readonly text: string }) =>
  rightToLeft.test(text) ? (
    <>
      {text.split(strings).map((part, index) => {
        const Part = index % 2 === 0 ? Fragment : 'bdi';
        return (
          <Part key={index}>
            <Visible text={part} />
          </Part>
        );
      })}
    </>
  ) : (
    <Visible text={text} />
  );

/** Finds the bodies in a callback, which are in base64. */
function decodedIn(text: string): readonly (readonly [string, string])[] {
  const value = parsed(text);
  if (typeof value !== 'object' || value === null || !('sourceMessageId' in value)) return [];
  return Object.entries(value).flatMap(([name, base64]: [string, unknown]) => {
    const decoded =
      ['body', 'sourceBody'].includes(name) && typeof base64 === 'string' && base64 !== ''
        ? textOf(base64)
        : undefined;
    return decoded === undefined ? [] : [[name, decoded] as const];
  });
}

export function laidOut(text: string): string {
  const value = parsed(text);
  return typeof value === 'object' && value !== null ? JSON.stringify(value, null, 2) : text;
}

const Redacted = ({ text }: { readonly text: string }) => (
  <span class="redacted" title="It is not kept. Equal values have equal hashes.">
    {text}
  </span>
);

export function Headers({ of, label }: { readonly of: RequestShownProps['header']; readonly label: string }) {
  const [isShown, show] = useSwitch();
  const mayWrite = useMayWrite();
  const pairs = pairsOf(of).map(
    ([name, value]) => [name, !isShown && isSecretHeader(name, value) ? '…' : value] as const,
  );
  if (pairs.length === 0) return <p class="hint">No headers.</p>;
  return (
    <>
      <dl class="headers code" aria-label={label}>
        {pairs.map(([name, value], index) => (
          <div key={index}>
            <dt>{name}</dt>
            <dd>{isRedacted(value) ? <Redacted text={value} /> : <Visible text={value} />}</dd>
          </div>
        ))}
      </dl>
      {mayWrite && pairs.some(([, value]) => value === '…') && (
        <div>
          <Button kind="quiet" onClick={show}>
            Show credentials
          </Button>
        </div>
      )}
    </>
  );
}

/** The content type, however the header's name is spelled. */
export const contentTypeOf = (headers: RequestShownProps['header'] = {}): string | undefined =>
  Object.entries(headers).find(([name]) => name.toLowerCase() === 'content-type')?.[1][0];

interface RequestShownProps {
  readonly header: Readonly<Record<string, readonly string[]>>;
  readonly body?: string | undefined;
  readonly bodyBase64?: string | undefined;
}

interface RequestViewProps {
  readonly of: RequestShownProps;
  readonly noun?: 'request' | 'answer';
}

export const RequestView = ({ of: { header, body, bodyBase64 }, noun = 'request' }: RequestViewProps) => (
  <>
    <h3>Headers{noun === 'answer' && ' of the answer'}</h3>
    <Headers of={header} label={`Headers of the ${noun}`} />
    <h3>Body{noun === 'answer' && ' of the answer'}</h3>
    <Body text={body} base64={bodyBase64} type={contentTypeOf(header)} label={`the body of the ${noun}`} />
  </>
);
