import { createContext } from 'preact';
import { useContext } from 'preact/hooks';

/** The rights of this tab's token. With `read`, screens hide everything that changes something. */
export const Access = createContext<'read' | 'write'>('read');

export const useMayWrite = (): boolean => useContext(Access) === 'write';
