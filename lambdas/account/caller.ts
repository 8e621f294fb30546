/** The sender of a request, whose token is good. */
import type { Account } from './account.ts';
import type { Access } from './credentials.ts';
import type { NamedToken } from './namedToken.ts';

export interface Caller {
  readonly account: Account;
  /** The access that its token gives; `publish`: to publish, and nothing else. */
  readonly access: Access | 'publish';
  /** The token, where it is a named one. */
  readonly named?: NamedToken;
}
