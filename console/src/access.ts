/** The rights of this tab's token. */
import { createContext } from 'preact';
import { useContext } from 'preact/hooks';

/** With `read`, the screens leave out everything that changes something. */
export const Access = createContext<'read' | 'write'>('read');

export const useMayWrite = (): boolean => useContext(Access) === 'write';
