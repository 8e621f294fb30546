/** What the token of this tab may do. */
import { createContext } from 'preact';
import { useContext } from 'preact/hooks';

/** `read`: everything that changes something is absent from the screens. */
export const Access = createContext<'read' | 'write'>('read');

export const useMayWrite = (): boolean => useContext(Access) === 'write';
