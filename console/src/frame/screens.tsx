/** All screens, in the order of the navigation. The first is shown when the address names none. */
import type { FunctionComponent } from 'preact';
import type { Place } from '../place.ts';
import { Accounts } from '../screens/accounts/accounts.tsx';
import { Audit } from '../screens/audit/audit.tsx';
import { DeadLetters } from '../screens/deadLetters/deadLetters.tsx';
import { Keys } from '../screens/keys/keys.tsx';
import { FlowControl } from '../screens/lanes/flowControl.tsx';
import { Queues } from '../screens/lanes/queues.tsx';
import { Messages } from '../screens/messages/messages.tsx';
import { Overview } from '../screens/overview/overview.tsx';
import { Publish } from '../screens/publish/publish.tsx';
import { Runs } from '../screens/runs/runs.tsx';
import { Schedules } from '../screens/schedules/schedules.tsx';
import { UrlGroups } from '../screens/urlGroups/urlGroups.tsx';
import type { Api } from '../session.ts';

export interface Screen {
  /** The first segment of its address. */
  readonly path: string;
  readonly name: string;
  readonly api: Api;
  /** Gets the whole place: the rest of the path and the query are the screen's own. */
  readonly Screen: FunctionComponent<{ readonly place: Place }>;
  /** Whether the screen is only for tokens that may change something. */
  readonly changes?: boolean;
}

export const screens: readonly Screen[] = [
  { path: 'overview', name: 'Overview', api: 'messaging', Screen: Overview },
  { path: 'messages', name: 'Messages', api: 'messaging', Screen: Messages },
  { path: 'dead-letters', name: 'Dead letters', api: 'messaging', Screen: DeadLetters },
  { path: 'publish', name: 'Publish', api: 'messaging', Screen: Publish, changes: true },
  { path: 'schedules', name: 'Schedules', api: 'messaging', Screen: Schedules },
  { path: 'url-groups', name: 'URL groups', api: 'messaging', Screen: UrlGroups },
  { path: 'queues', name: 'Queues', api: 'messaging', Screen: Queues },
  { path: 'flow-control', name: 'Flow control', api: 'messaging', Screen: FlowControl },
  { path: 'runs', name: 'Workflow runs', api: 'messaging', Screen: Runs },
  { path: 'keys', name: 'Keys', api: 'messaging', Screen: Keys },
  { path: 'audit', name: 'Audit', api: 'messaging', Screen: Audit },
  { path: 'accounts', name: 'Accounts', api: 'management', Screen: Accounts },
];
