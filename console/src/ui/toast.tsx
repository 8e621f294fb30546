import { useEffect, useState } from 'preact/hooks';

interface Toast {
  readonly id: number;
  readonly text: string;
  readonly kind: 'done' | 'failure';
  /** The address of its subject. */
  readonly link?: string | undefined;
}

/** Long enough to read two sentences, in milliseconds. */
const shownMs = 6_000;
/** The most toasts at once; more would cover the page. */
const mostShown = 4;

let toasts: readonly Toast[] = [];
let count = 0;
let tell: (() => void) | undefined;

const set = (changed: readonly Toast[]): void => {
  toasts = changed;
  tell?.();
};

/** Shows a sentence for some seconds. Screen readers read it out. */
export function showToast(text: string, kind: Toast['kind'] = 'done', link?: string): void {
  const id = (count += 1);
  set([...toasts, { id, text, kind, link }].slice(-mostShown));
  setTimeout(() => {
    set(toasts.filter((toast) => toast.id !== id));
  }, shownMs);
}

export function Toasts() {
  const [, setRound] = useState(0);
  useEffect(() => {
    tell = () => {
      setRound((round) => round + 1);
    };
    return () => {
      tell = undefined;
    };
  }, []);
  return (
    <div class="toasts" role="status" aria-live="polite">
      {toasts.map(({ id, text, kind, link }) => (
        <p key={id} class={`toast ${kind}`}>
          {text} {link !== undefined && <a href={link}>Show</a>}
        </p>
      ))}
    </div>
  );
}
