import { useEffect, useRef } from 'preact/hooks';
import { useAttention, type Attention, type AttentionPart } from '../api/attention.ts';
import { href } from '../place.ts';
import { classes, countOf } from '../ui/basics.tsx';
import type { Screen } from './screens.tsx';

interface NavigationProps {
  readonly current: Screen | undefined;
  readonly screens: readonly Screen[];
}

export function Navigation({ current, screens }: NavigationProps) {
  const { answer, error } = useAttention();
  const list = useRef<HTMLUListElement>(null);
  // In a narrow window, the list is a row that scrolls.
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
              {screen.needs && (answer ?? error) !== undefined && <Badge of={answer} needs={screen.needs} />}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
}

const mostTold = 999;

const sizeOf = (part: Attention[AttentionPart] = []): number =>
  typeof part === 'number' ? part : part.length;

/** The number of things that need attention. `3+` means at least three, and `?` means that it is unknown. */
function Badge({
  of: all,
  needs,
}: {
  readonly of: Attention | undefined;
  readonly needs: readonly AttentionPart[];
}) {
  const of = needs.reduce((sum, part) => sum + sizeOf(all?.[part]), 0);
  const isWhole = all !== undefined && !needs.some((part) => all.cut.includes(part));
  if (of === 0 && isWhole) return null;
  return (
    <span class="badge">
      <span aria-hidden="true">
        {of === 0 ? '?' : `${Math.min(of, mostTold)}${of > mostTold || !isWhole ? '+' : ''}`}
      </span>
      <span class="visually-hidden">
        {of === 0
          ? ', it is unknown what needs attention'
          : `, ${isWhole ? '' : 'at least '}${countOf(of, 'needs', 'need')} attention`}
      </span>
    </span>
  );
}
