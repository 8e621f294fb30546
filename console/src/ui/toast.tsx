import { useStateAt } from '../events.ts';
import { go, going, href, placeOf } from '../place.ts';
import { Button } from './basics.tsx';

interface Toast {
  readonly id: number;
  readonly text: string;
  readonly kind: 'done' | 'failure';
  readonly link?: string | undefined;
  /** The screen on which the toast appeared. It disappears when the user leaves the screen. */
  readonly screen: string;
  /** When it appeared, in milliseconds of the page's clock. */
  readonly at: number;
}

/** Long enough to read two sentences. */
const shownMs = 6_000;
/** More toasts would cover the page. */
const mostShown = 4;

let toasts: readonly Toast[] = [];
let count = 0;
const changed = 'svc-toasts';

const set = (after: readonly Toast[]): void => {
  toasts = after;
  dispatchEvent(new Event(changed));
};

const screenOf = (address: string): string => href(placeOf(address).path);

/**
 * In milliseconds. A toast that appeared more recently stays when the screen changes, because its change led
 * there.
 */
const keptOnNavigationMs = 1_000;
addEventListener(going, (event) => {
  if (!(event instanceof CustomEvent)) return;
  const screen = screenOf(String(event.detail));
  const since = performance.now() - keptOnNavigationMs;
  set(toasts.map((toast) => (toast.at >= since ? { ...toast, screen } : toast)));
});
addEventListener('hashchange', () => {
  const screen = screenOf(location.hash);
  set(toasts.filter((toast) => toast.screen === screen));
});

/** Shows a sentence for some seconds. Screen readers read it aloud. */
export function showToast(text: string, kind: Toast['kind'] = 'done', link?: string): void {
  const id = (count += 1);
  const toast: Toast = { id, text, kind, link, screen: screenOf(location.hash), at: performance.now() };
  set([...toasts, toast].slice(-mostShown));
  setTimeout(() => {
    dismiss(id);
  }, shownMs);
}

/** Goes to the result of a change, and shows a sentence with a link to it. */
export function showAt(place: string, text: string): void {
  showToast(text, 'done', place);
  go(place);
}

const dismiss = (id: number): void => {
  set(toasts.filter((toast) => toast.id !== id));
};

export function forgetFailures(): void {
  set(toasts.filter(({ kind }) => kind !== 'failure'));
}

export const Toasts = () => (
  <div class="toasts" role="status" aria-live="polite">
    {useStateAt(changed, () => toasts).map(({ id, text, kind, link }) => (
      <div key={id} class={`toast ${kind}`}>
        <p>
          {text} {link !== undefined && <a href={link}>Show</a>}
        </p>
        <Button
          kind="quiet"
          aria-label="Dismiss"
          onClick={() => {
            dismiss(id);
          }}
        >
          ✕
        </Button>
      </div>
    ))}
  </div>
);
