import type { Header } from '../shared/headers.ts';

/** The response to one HTTP request, or the error in its place. */
export interface DestinationResponse {
  /** 0 when there was no response. */
  readonly status: number;
  /** The reason why there was no response. */
  readonly error?: string | undefined;
  /** Names in lower case. */
  readonly headers: readonly Header[];
  readonly body: Uint8Array;
  /** Whether the body is only a beginning: the rest was not read. */
  readonly isCut?: true | undefined;
  /** Whether the service refused the destination, and made no request. */
  readonly isRefusal?: boolean | undefined;
  /** Whether every other attempt would get the same answer, so that none follows. */
  readonly isFinal?: true | undefined;
}
