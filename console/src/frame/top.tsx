/** The top of the page: whose account it is, whether the data is fresh, and the choices for the whole page. */
import { useEffect, useState } from 'preact/hooks';
import { changeLive, useLive } from '../api/live.ts';
import { apis, signOut, type Session } from '../session.ts';
import { product } from '../title.ts';
import { Button, classes, Visible } from '../ui/basics.tsx';
import { away, useClock } from '../ui/time.tsx';

interface TopProps {
  readonly whose: readonly string[];
  readonly session: Session;
  readonly onFind: () => void;
}

export const Top = ({ whose, session, onFind }: TopProps) => (
  <header class="top">
    <a class="brand" href="#/">
      {/* A message in flight, also in the favicon, `icon.svg`. */}
      <svg class="mark" viewBox="0 0 32 32" width="22" height="22" aria-hidden="true">
        <rect width="32" height="32" rx="8" />
        <path d="M7 10.5h10M7 16h13M7 21.5h10" />
        <path d="m18.5 10.5 6.5 5.5-6.5 5.5" />
      </svg>
      <span>{product}</span>
    </a>
    <p class="whose">
      {whose.map((part, index) => (
        <span key={index} title={part}>
          <Visible text={part} />
        </span>
      ))}
    </p>
    <Following />
    <div class="top-end">
      <Button kind="quiet" title="Ctrl K" onClick={onFind}>
        Go to…
      </Button>
      <ThemeChoice />
      {apis
        .filter((api) => session[api] !== undefined)
        .map((api) => (
          <Button
            key={api}
            kind="quiet"
            onClick={() => {
              signOut(api);
            }}
          >
            {api === 'messaging' ? 'Sign out' : 'Sign out as operator'}
          </Button>
        ))}
    </div>
  </header>
);

function Following() {
  const { isOn, isLost, answeredAt } = useLive();
  const now = Math.max(useClock(), answeredAt ?? 0);
  const age = answeredAt !== undefined && away(answeredAt, now);
  return (
    <div class="following">
      <span class={classes(isLost && 'wrong')} role={isLost ? 'alert' : undefined}>
        {isLost && 'The service cannot be reached'}
        {isLost && age && <span aria-hidden="true">; this is from {age}</span>}
        {!isLost && age && <span class="wide">Updated </span>}
        {!isLost && age}
      </span>
      <Button
        kind="quiet"
        aria-pressed={isOn}
        title={isOn ? 'Stop loading new entries' : 'Load new entries again'}
        onClick={() => {
          changeLive({ isOn: !isOn });
        }}
      >
        Live
      </Button>
    </div>
  );
}

const key = 'svc.theme';
const themes = ['system', 'light', 'dark'] as const;
type Theme = (typeof themes)[number];

const stored = (): Theme => themes.find((theme) => theme === localStorage.getItem(key)) ?? 'system';

/** Chooses between the system's, light and dark colours. The browser remembers it. */
function ThemeChoice() {
  const [theme, setTheme] = useState(stored);
  useEffect(() => {
    localStorage.setItem(key, theme);
    document.documentElement.dataset['theme'] = theme;
  }, [theme]);
  return (
    <Button
      kind="quiet"
      onClick={() => {
        setTheme(themes[(themes.indexOf(theme) + 1) % themes.length] ?? 'system');
      }}
    >
      <span>
        Theme<span class="wide">: {theme}</span>
      </span>
    </Button>
  );
}
