import type { Header } from '../shared/headers.ts';

export interface DestinationResponse {
  /** The HTTP status; 0 without a response. */
  readonly status: number;
  /** Why there was no response. */
  readonly error?: string | undefined;
  /** Lower-case names. */
  readonly headers: readonly Header[];
  readonly body: Uint8Array;
  /** Whether the rest of the body was not read. */
  readonly isCut?: true | undefined;
  /** Whether the service refused the destination without a request. */
  readonly isRefusal?: boolean | undefined;
  /** Whether a retry would get the same answer. */
  readonly isFinal?: true | undefined;
}

export const noAnswer = (error: string): DestinationResponse => ({
  status: 0,
  error,
  headers: [],
  body: new Uint8Array(),
});
