/** The navigation: all screens, each with the number of what needs attention there. */
import { useEffect, useRef } from 'preact/hooks';
import { useAttention } from '../api/attention.ts';
import { href } from '../place.ts';
import { classes, countOf } from '../ui/basics.tsx';
import type { Screen } from './screens.tsx';

interface NavigationProps {
  readonly current: Screen | undefined;
  readonly screens: readonly Screen[];
}

export function Navigation({ current, screens }: NavigationProps) {
  const { answer } = useAttention();
  const list = useRef<HTMLUListElement>(null);
  // In a narrow window the list is one row that scrolls: the current entry is brought into view.
  useEffect(() => {
    const entry = list.current?.querySelector<HTMLElement>('[aria-current]');
    if (list.current === null || !entry) return;
    list.current.scrollLeft = entry.offsetLeft - (list.current.clientWidth - entry.offsetWidth) / 2;
  }, [current, answer]);
  return (
    <nav class="navigation" aria-label="Screens">
      <ul ref={list}>
        {screens.map((screen) => (
          <li key={screen.path} class={classes(screen.api === 'management' && 'operator')}>
            <a href={href([screen.path])} aria-current={screen === current ? 'page' : undefined}>
              {screen.name}
              {answer && <Badge of={screen.badge?.(answer) ?? 0} isWhole={answer.isWhole} />}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
}

/** More are not told apart at a glance. */
const mostTold = 999;

/** @param isWhole whether all was looked at: there may be more otherwise */
function Badge({ of, isWhole }: { readonly of: number; readonly isWhole: boolean }) {
  if (of === 0) return null;
  return (
    <span class="badge">
      <span aria-hidden="true">
        {Math.min(of, mostTold)}
        {(of > mostTold || !isWhole) && '+'}
      </span>
      <span class="visually-hidden">
        {`, ${isWhole ? '' : 'at least '}${countOf(of, 'needs', 'need')} attention`}
      </span>
    </span>
  );
}
