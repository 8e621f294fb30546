/** State outside of components. Its owner fires an event when it changes. */
import { useEffect, useState } from 'preact/hooks';

export function onEvent(name: string, act: () => void): () => void {
  addEventListener(name, act);
  return () => {
    removeEventListener(name, act);
  };
}

export function useStateAt<T>(event: string, read: () => T): T {
  const [state, setState] = useState(read);
  useEffect(() => {
    const follow = (): void => {
      setState(read());
    };
    // The state may have changed before this effect ran.
    follow();
    return onEvent(event, follow);
  }, []);
  return state;
}
