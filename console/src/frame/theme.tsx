import { useEffect, useState } from 'preact/hooks';
import { Button } from '../ui/basics.tsx';

const key = 'svc.theme';
const themes = ['system', 'light', 'dark'] as const;
type Theme = (typeof themes)[number];

const stored = (): Theme => themes.find((theme) => theme === localStorage.getItem(key)) ?? 'system';

/** Chooses between the system's, light and dark colours. The browser remembers it. */
export function ThemeChoice() {
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
