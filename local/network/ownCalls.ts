/** The stage's calls to itself while it starts. */
import { Agent, fetch } from 'undici';

interface Answer {
  readonly status: number;
  readonly url: string;
  text(): Promise<string>;
}

export type CallOwn = (
  url: string,
  init?: {
    readonly method?: string;
    readonly headers?: Record<string, string>;
    readonly body?: string;
  },
) => Promise<Answer>;

/** The certificate is not checked, because it is for the name that clients use. */
export function ownCalls(): { readonly call: CallOwn; readonly close: () => Promise<void> } {
  const dispatcher = new Agent({ connect: { rejectUnauthorized: false } });
  return {
    call: (url, init = {}) => fetch(url, { ...init, dispatcher }),
    close: () => dispatcher.close(),
  };
}
