/** The small parts that every screen is made of. */
import type { ButtonHTMLAttributes, ComponentChildren } from 'preact';
import { useEffect, useId, useState } from 'preact/hooks';

export const classes = (...names: readonly (string | false | undefined)[]): string =>
  names.filter(Boolean).join(' ');

interface PageProps {
  readonly title: string;
  /** What stands beside the title: buttons of the whole screen. */
  readonly actions?: ComponentChildren;
  /** Where the way back leads, with its name. */
  readonly back?: { readonly href: string; readonly name: string };
  readonly children: ComponentChildren;
}

/** A screen. Its title is the document's, too. */
export function Page({ title, actions, back, children }: PageProps) {
  useEffect(() => {
    document.title = `${title} · Console`;
  }, [title]);
  return (
    <>
      <header class="page-head">
        <div>
          {back && (
            <a class="back" href={back.href}>
              <span aria-hidden="true">←</span> {back.name}
            </a>
          )}
          <h1>{title}</h1>
        </div>
        {actions && <div class="actions">{actions}</div>}
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

/** A part of a screen with a title of its own. */
export function Card({ title, actions, children, ...props }: CardProps) {
  const id = useId();
  return (
    <section class={classes('card', props.class)} aria-labelledby={title === undefined ? undefined : id}>
      {title !== undefined && (
        <header class="card-head">
          <h2 id={id}>{title}</h2>
          {actions && <div class="actions">{actions}</div>}
        </header>
      )}
      {children}
    </section>
  );
}

interface ButtonProps extends Omit<ButtonHTMLAttributes, 'type' | 'disabled'> {
  readonly kind?: 'plain' | 'main' | 'danger' | 'quiet';
  readonly isBusy?: boolean;
  readonly type?: 'button' | 'submit';
  readonly disabled?: boolean;
}

export function Button({ kind = 'plain', isBusy = false, type = 'button', disabled, ...rest }: ButtonProps) {
  return (
    <button
      {...rest}
      type={type}
      class={classes('button', kind)}
      disabled={disabled === true || isBusy}
      aria-busy={isBusy}
    />
  );
}

/** A link that looks like a button: for going to another screen. */
export function ButtonLink({
  kind = 'plain',
  href,
  children,
}: {
  readonly kind?: 'plain' | 'main' | 'quiet';
  readonly href: string;
  readonly children: ComponentChildren;
}) {
  return (
    <a class={classes('button', kind)} href={href}>
      {children}
    </a>
  );
}

/** States with their colours. The text says it too. */
const tones: ReadonlyMap<string, 'good' | 'bad' | 'busy' | 'idle' | 'warn'> = new Map([
  ['DELIVERED', 'good'],
  ['SUCCESS', 'good'],
  ['RUN_SUCCESS', 'good'],
  ['STEP_SUCCESS', 'good'],
  ['CALLBACK_SUCCESS', 'good'],
  ['active', 'good'],
  ['FAILED', 'bad'],
  ['FAIL', 'bad'],
  ['ERROR', 'bad'],
  ['RUN_FAILED', 'bad'],
  ['STEP_FAILED', 'bad'],
  ['CALLBACK_FAIL', 'bad'],
  ['deleted', 'bad'],
  ['open', 'bad'],
  ['RETRY', 'warn'],
  ['HELD', 'warn'],
  ['half-open', 'warn'],
  ['STEP_RETRY', 'warn'],
  ['paused', 'warn'],
  ['passive', 'warn'],
  ['ACTIVE', 'busy'],
  ['IN_PROGRESS', 'busy'],
  ['RUN_STARTED', 'busy'],
  ['STEP_PROGRESS', 'busy'],
  ['CALLBACK_INPROGRESS', 'busy'],
  ['CREATED', 'busy'],
  ['closing', 'busy'],
]);

export const toneOf = (state: string): string => tones.get(state) ?? 'idle';

/** Names of states in plain words; any other is shown in small letters. */
const stateNames: ReadonlyMap<string, string> = new Map([
  ['CREATED', 'waiting'],
  ['CANCELED', 'cancelled'],
  ['STARTED', 'running'],
  ['PROGRESS', 'running'],
  ['INPROGRESS', 'running'],
  ['SUCCESS', 'succeeded'],
  ['FAIL', 'failed'],
  ['passive', 'suspended'],
]);

export function nameOfState(written: string): string {
  const state = written.replace(/^(RUN|STEP|CALLBACK)_/, '');
  return stateNames.get(state) ?? state.replaceAll('_', ' ').toLowerCase();
}

export function State({ state, name }: { readonly state: string; readonly name?: string }) {
  return <span class={classes('state', toneOf(state))}>{name ?? nameOfState(state)}</span>;
}

/** What stands in place of a list that has nothing: it says what to do. */
export function Empty({
  title,
  children,
}: {
  readonly title: string;
  readonly children?: ComponentChildren;
}) {
  return (
    <div class="empty">
      <p class="empty-title">{title}</p>
      {children && <div>{children}</div>}
    </div>
  );
}

/** Why something is not there, with a way to try again. */
export function Failure({ error, again }: { readonly error: string; readonly again?: () => void }) {
  return (
    <div class="failure" role="alert">
      <p>{error}</p>
      {again && <Button onClick={again}>Try again</Button>}
    </div>
  );
}

export function Loading() {
  return (
    <p class="loading" role="status">
      Loading…
    </p>
  );
}

/** Facts with their names, such as the settings of a message. Those that are undefined are left out. */
export function Facts({
  of,
}: {
  readonly of: readonly (readonly [name: string, value: ComponentChildren | undefined])[];
}) {
  return (
    <dl class="facts">
      {of.flatMap(([name, value]) =>
        value === undefined
          ? []
          : [
              <div key={name}>
                <dt>{name}</dt>
                <dd>{value}</dd>
              </div>,
            ],
      )}
    </dl>
  );
}

/** Long texts such as ids and URLs: cut at their end where there is no room, whole in their tooltip. */
export function Cut({ text, isCode = false }: { readonly text: string; readonly isCode?: boolean }) {
  return (
    <span class={classes('cut', isCode && 'code')} title={text}>
      {text}
    </span>
  );
}

/** How long the button says that it has copied, in milliseconds. */
const copiedMs = 2_000;

/** Copies a text. */
export function Copy({
  text,
  children = 'Copy',
  label,
}: {
  readonly text: string | (() => string);
  readonly children?: ComponentChildren;
  /** Says what is copied, where the button's text alone does not. */
  readonly label?: string;
}) {
  const [isCopied, setCopied] = useState(false);
  useEffect(() => {
    if (!isCopied) return undefined;
    const timer = setTimeout(() => {
      setCopied(false);
    }, copiedMs);
    return () => {
      clearTimeout(timer);
    };
  }, [isCopied]);
  const copy = async (): Promise<void> => {
    await navigator.clipboard.writeText(typeof text === 'string' ? text : text());
    setCopied(true);
  };
  return (
    <Button kind="quiet" aria-label={isCopied ? 'Copied' : label} onClick={() => void copy()}>
      {isCopied ? 'Copied' : children}
    </Button>
  );
}

const numbers = new Intl.NumberFormat('en');
/** A whole number as people read it: `12,345`. */
export const count = (value: number): string => numbers.format(value);
/** A number of things: `1 message`, `2 messages`. */
export const countOf = (value: number, one: string, many = `${one}s`): string =>
  `${count(value)} ${value === 1 ? one : many}`;

const units = ['bytes', 'KB', 'MB', 'GB', 'TB'] as const;
/** Bytes as people read them, with 1,024 bytes in a KB: `12.3 KB`. */
export function bytes(value: number): string {
  const power = value < 1024 ? 0 : Math.min(units.length - 1, Math.floor(Math.log2(value) / 10));
  const shown = value / 1024 ** power;
  return `${power === 0 || shown >= 100 ? count(Math.round(shown)) : shown.toFixed(1)} ${units[power] ?? ''}`;
}
