/** The authenticated sender of a request. */
import type { Account } from './account.ts';
import type { Access } from './credentials.ts';
import type { NamedToken } from './namedToken.ts';

export interface Caller {
  readonly account: Account;
  /** The access that its token gives. `publish` allows only publishing. */
  readonly access: Access | 'publish';
  /** The token if it is a named one. */
  readonly named?: NamedToken;
}
