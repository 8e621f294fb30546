import type { ButtonHTMLAttributes, ComponentChildren } from 'preact';
import { useContext, useEffect, useId, useReducer, useState } from 'preact/hooks';
import type { Problem } from '../api/client.ts';
import { asLeft, href, markBack, type Place } from '../place.ts';
import { product, Whose } from '../title.ts';
import { Explained } from './explained.tsx';

export const classes = (...names: readonly (string | false | undefined)[]): string =>
  names.filter(Boolean).join(' ');

interface PageProps {
  readonly title: string;
  /** Buttons beside the title; undefined until they are known, false if there are none. */
  readonly actions?: ComponentChildren;
  /** Whether the buttons remain visible while the list is scrolled, because they act on its rows. */
  readonly isSticky?: boolean;
  readonly back?: { readonly href: string; readonly name: string };
  readonly children: ComponentChildren;
}

/** A screen. Its title is also the document's. */
export function Page({ title, back, isSticky, children, ...props }: PageProps) {
  const { actions } = props;
  // Room is kept for buttons that are not known yet, so that nothing jumps.
  const hasActions = 'actions' in props && actions !== false;
  const documentTitle = [title, ...useContext(Whose), product].join(' · ');
  useEffect(() => {
    document.title = documentTitle;
  }, [documentTitle]);
  return (
    <>
      <header class={classes('page-head', isSticky === true && 'sticky')}>
        <div>
          {back && (
            <a class="back" href={asLeft(back.href)} onClick={markBack}>
              <span aria-hidden="true">←</span> {back.name}
            </a>
          )}
          <h1>
            <Visible text={title} />
          </h1>
        </div>
        {hasActions && <div class="actions row">{actions}</div>}
      </header>
      {children}
    </>
  );
}

interface CardProps {
  readonly title?: string;
  readonly actions?: ComponentChildren;
  readonly class?: string;
  readonly children: ComponentChildren;
}

export function Card({ title, actions, children, ...props }: CardProps) {
  const id = useId();
  return (
    <section class={classes('card', props.class)} aria-labelledby={title === undefined ? undefined : id}>
      {title !== undefined && (
        <header class="row spread">
          <h2 id={id}>{title}</h2>
          {actions && <div class="row">{actions}</div>}
        </header>
      )}
      {children}
    </section>
  );
}

interface ButtonProps extends Omit<ButtonHTMLAttributes, 'type' | 'disabled'> {
  readonly kind?: 'plain' | 'main' | 'danger' | 'quiet' | undefined;
  readonly isBusy?: boolean;
  readonly type?: 'button' | 'submit';
  readonly disabled?: boolean;
}

export const Button = ({
  kind = 'plain',
  isBusy = false,
  type = 'button',
  disabled,
  ...rest
}: ButtonProps) => (
  <button
    {...rest}
    type={type}
    class={classes('button', kind)}
    disabled={disabled === true || isBusy}
    aria-busy={isBusy}
  />
);

interface ButtonLinkProps {
  readonly kind?: 'plain' | 'main' | 'quiet';
  readonly href: string;
  readonly children: ComponentChildren;
}

export const ButtonLink = ({ kind = 'plain', ...link }: ButtonLinkProps) => (
  <a {...link} class={classes('button', kind)} />
);

export interface ChoicesProps {
  readonly of: readonly (readonly [value: string, name: string, ...rest: unknown[]])[];
  readonly chosen: string | undefined;
  readonly onChoose: (value: string) => void;
  /** The name for screen readers, if the text alone is unclear. */
  readonly labelOf?: (name: string) => string;
}

export const Choices = ({ of, chosen, onChoose, labelOf }: ChoicesProps) => (
  <>
    {of.map(([value, name]) => (
      <Button
        key={value}
        kind="quiet"
        aria-label={labelOf?.(name)}
        aria-pressed={value === chosen}
        onClick={() => {
          onChoose(value);
        }}
      >
        {name}
      </Button>
    ))}
  </>
);

interface TabsProps {
  readonly place: Place;
  readonly of: readonly (readonly [list: string, name: ComponentChildren])[];
}

/** Links to the lists of a screen. */
export const Tabs = ({ place: { path, query }, of }: TabsProps) => (
  <nav class="tabs" aria-label="Lists">
    {of.map(([list, name]) => (
      <a
        key={list}
        href={href(path, { list })}
        aria-current={(query.get('list') ?? '') === list ? 'page' : undefined}
      >
        {name}
      </a>
    ))}
  </nav>
);

type Tone = 'good' | 'bad' | 'warn' | 'busy' | 'idle';

/** The colours and names of states. Other states are shown in lower case. */
const states: ReadonlyMap<string, readonly [tone: Tone, name?: string]> = new Map([
  ['DELIVERED', ['good']],
  ['SUCCESS', ['good', 'succeeded']],
  ['active', ['good']],
  ['FAILED', ['bad']],
  ['FAIL', ['bad', 'failed']],
  ['ERROR', ['bad']],
  ['deleted', ['bad']],
  ['open', ['bad']],
  ['RETRY', ['warn', 'retrying']],
  ['HELD', ['warn']],
  ['half-open', ['warn']],
  ['paused', ['warn']],
  ['passive', ['warn', 'suspended']],
  ['ACTIVE', ['busy', 'waiting for an answer']],
  ['IN_PROGRESS', ['busy']],
  ['STARTED', ['busy', 'running']],
  ['PROGRESS', ['busy', 'running']],
  ['INPROGRESS', ['busy', 'running']],
  ['CREATED', ['busy', 'waiting']],
  ['closing', ['busy']],
  ['CANCELED', ['idle', 'cancelled']],
]);

const stateOf = (written: string): string => written.replace(/^(RUN|STEP|CALLBACK)_/, '');

export const toneOf = (state: string): string => states.get(stateOf(state))?.[0] ?? 'idle';

export function nameOfState(written: string): string {
  const state = stateOf(written);
  return states.get(state)?.[1] ?? state.replaceAll('_', ' ').toLowerCase();
}

export function State({ state, name }: { readonly state: string; readonly name?: string }) {
  return <span class={classes('state', toneOf(state))}>{name ?? nameOfState(state)}</span>;
}

interface EmptyProps {
  readonly title: string;
  readonly children?: ComponentChildren;
}

export const Empty = ({ title, children }: EmptyProps) => (
  <div class="empty">
    <p class="empty-title">{title}</p>
    {children && <div>{children}</div>}
  </div>
);

export const Failure = ({ error, again }: { readonly error: Problem; readonly again?: () => void }) => (
  <div class="failure row spread" role="alert">
    <p>
      <Explained error={error} />
    </p>
    {again && <Button onClick={again}>Try again</Button>}
  </div>
);

export const Loading = () => (
  <p class="loading" role="status">
    Loading…
  </p>
);

export type Details = readonly (readonly [name: string, value: ComponentChildren | undefined])[];

/** Named values, such as a message's settings. Undefined values are omitted. */
export const DetailList = ({ of }: { readonly of: Details }) => (
  <dl class="detail-list">
    {of.map(
      ([name, value]) =>
        value !== undefined && (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ),
    )}
  </dl>
);

/**
 * Characters that cannot be seen: those that change the text's direction, those without width (except joiners
 * in emoji), and control characters (except tabs and line ends).
 */
const unseen =
  // oxlint-disable-next-line no-control-regex -- Controls are what is looked for.
  /([\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u061c\u200b\u200c\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]|(?<!\p{Extended_Pictographic}[\ufe0f\p{Emoji_Modifier}]?)\u200d)/u;

/** Shows invisible characters as their code: `U+202E`. */
export const Visible = ({ text }: { readonly text: string }) => (
  <>
    {text.split(unseen).map((part, index) =>
      index % 2 === 0 ? (
        part
      ) : (
        <span key={index} class="unseen">
          U+{(part.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}
        </span>
      ),
    )}
  </>
);

/** A long text, such as a URL. If there is not enough room, its end is cut, and the tooltip has all of it. */
export const Cut = ({ text, isCode = false }: { readonly text: string; readonly isCode?: boolean }) => (
  <span class={classes('cut', isCode && 'code')} title={text}>
    <Visible text={text} />
  </span>
);

/** How long the button confirms the copy (ms). */
const copiedMs = 2_000;

interface CopyProps {
  readonly text: string | (() => string);
  readonly children?: ComponentChildren;
  readonly label?: string;
}

export function Copy({ text, children = 'Copy', label }: CopyProps) {
  const [isCopied, setCopied] = useState(false);
  const copy = async (): Promise<void> => {
    await navigator.clipboard.writeText(typeof text === 'string' ? text : text());
    setCopied(true);
    setTimeout(setCopied, copiedMs, false);
  };
  return (
    <Button kind="quiet" aria-label={isCopied ? 'Copied' : label} onClick={() => void copy()}>
      {isCopied ? 'Copied' : children}
    </Button>
  );
}

/** A boolean that is false at first, and a function that toggles it. */
export const useSwitch = () => useReducer<boolean, unknown>((isOn) => !isOn, false);

interface SecretProps {
  readonly title: string;
  readonly text: string;
  readonly copy: string;
}

/** A new secret, which is shown once. */
export function Secret({ title, text, copy }: SecretProps) {
  const [isKnown, know] = useSwitch();
  if (isKnown) return null;
  return (
    <div class="secret row spread" role="status">
      <div>
        <strong>{title}</strong>
        <p class="hint">Copy it now: it cannot be shown again.</p>
        <code>{text}</code>
      </div>
      <div class="row">
        <Copy text={text} label={copy} />
        <Button onClick={know}>I have copied it</Button>
      </div>
    </div>
  );
}

const numbers = new Intl.NumberFormat('en');
/** Formats a whole number: `12,345`. If it is unknown: `?`. */
export const count = (value: number | undefined): string =>
  value === undefined ? '?' : numbers.format(value);
/** A number with its noun: `1 message`, `2 messages`. */
export const countOf = (value: number | undefined, one: string, many = `${one}s`): string =>
  `${count(value)} ${value === 1 ? one : many}`;

/** A share in per cent. Never 0 % if it is not zero. */
export const percentOf = (some: number, all: number): string => {
  const percent = Math.round((100 * some) / all);
  return percent === 0 && some > 0 ? '<1 %' : `${percent} %`;
};

const amounts = new Intl.NumberFormat('en', { style: 'currency', currency: 'USD' });
export const dollars = (amount: number): string => amounts.format(amount);

const units = ['bytes', 'KB', 'MB', 'GB', 'TB'] as const;
export function bytes(value: number): string {
  const power = value < 1024 ? 0 : Math.min(units.length - 1, Math.floor(Math.log2(value) / 10));
  const shown = value / 1024 ** power;
  return `${power === 0 || shown >= 100 ? count(Math.round(shown)) : shown.toFixed(1)} ${units[power] ?? ''}`;
}
