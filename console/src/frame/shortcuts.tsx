/** Keys: `/` focuses the search, `g` and a letter open a screen, `?` lists the keys, and Ctrl+K or ⌘K opens the palette. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { go, href } from '../place.ts';
import { Checkbox } from '../ui/fields.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Palette, type ScreensProps } from './palette.tsx';
import type { Screen } from './screens.tsx';

/** Single keys can be turned off, for example by people who use speech input. The browser remembers this. */
const key = 'svc.keys';
const areOn = (): boolean => localStorage.getItem(key) !== 'off';

/** The letter must follow `g` within this time (ms). */
const pairMs = 1_500;

type Open = 'palette' | 'list' | undefined;

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));

interface ShortcutsProps {
  readonly screens: readonly Screen[];
  readonly open: Open;
  readonly onOpen: (open: Open) => void;
}

export function Shortcuts({ screens, open, onOpen }: ShortcutsProps) {
  const begunAt = useRef(-Infinity);
  useEffect(() => {
    const pressed = (event: KeyboardEvent): void => {
      if ((event.ctrlKey || event.metaKey) && !event.altKey && event.key.toLowerCase() === 'k') {
        event.preventDefault();
        if (document.querySelector('dialog[open]') === null) onOpen('palette');
        return;
      }
      if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || !areOn()) return;
      if (isTyping(event.target) || document.querySelector('dialog[open]') !== null) return;
      const isSecond = event.timeStamp - begunAt.current < pairMs;
      begunAt.current = -Infinity;
      if (isSecond) {
        const screen = screens.find((one) => one.key === event.key);
        if (screen !== undefined) go(href([screen.path]));
      } else if (event.key === 'g') {
        begunAt.current = event.timeStamp;
      } else if (event.key === '/') {
        event.preventDefault();
        const search = document.querySelector<HTMLElement>('main input[type="search"]');
        if (search === null) onOpen('palette');
        else search.focus();
      } else if (event.key === '?') {
        onOpen('list');
      }
    };
    addEventListener('keydown', pressed);
    return () => {
      removeEventListener('keydown', pressed);
    };
  }, [screens, onOpen]);
  const close = (): void => {
    onOpen(undefined);
  };
  if (open === 'palette') return <Palette screens={screens} onClose={close} />;
  if (open === 'list') return <KeyList screens={screens} onClose={close} />;
  return null;
}

function KeyList({ screens, onClose }: ScreensProps) {
  const [isOn, setOn] = useState(areOn);
  const keys: readonly (readonly [keys: readonly string[], what: string])[] = [
    [['Ctrl', 'K'], 'Find a screen, or the thing with an id'],
    [['/'], 'Search in the list'],
    ...screens.flatMap(({ key: letter, name }) =>
      letter === undefined ? [] : [[['g', letter], name] as const],
    ),
    [['?'], 'Show the shortcuts'],
  ];
  return (
    <Dialog title="Keyboard shortcuts" onClose={onClose}>
      <dl class="keys">
        {keys.map(([pressed, what]) => (
          <div key={what}>
            <dt>
              {pressed.map((one) => (
                <kbd key={one}>{one}</kbd>
              ))}
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
      <Checkbox
        label="Use shortcuts without Ctrl"
        checked={isOn}
        onInput={(turned) => {
          localStorage.setItem(key, turned ? 'on' : 'off');
          setOn(turned);
        }}
      />
    </Dialog>
  );
}
