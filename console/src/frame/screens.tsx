/** All screens, in the order of the navigation. The first is the default. */
import type { FunctionComponent } from 'preact';
import type { AttentionPart } from '../api/attention.ts';
import type { Place } from '../place.ts';
import { Overview } from '../screens/overview/overview.tsx';
import { apis, type Api } from '../session.ts';
import type * as Later from './later.ts';
import { lazy } from './lazy.tsx';

export interface Screen {
  readonly path: string;
  readonly name: string;
  readonly api: Api;
  /** Gets the whole place. The screen reads the rest of the path and the query. */
  readonly Screen: FunctionComponent<{ readonly place: Place }>;
  /** Whether read-only tokens do not see the screen. */
  readonly changes?: boolean;
  /** The letter that opens the screen, after `g`. */
  readonly key?: string;
  /** The things that need attention whose number the navigation shows. */
  readonly needs?: readonly AttentionPart[];
}

const later = (screen: keyof typeof Later, path: string, name: string, more: Partial<Screen>): Screen => ({
  api: 'messaging',
  path,
  name,
  Screen: lazy(name, async () => (await import('./later.ts'))[screen]),
  ...more,
});

export const screens: readonly Screen[] = [
  { path: 'overview', name: 'Overview', api: 'messaging', Screen: Overview, key: 'o' },
  later('Messages', 'messages', 'Messages', { key: 'm' }),
  later('Upcoming', 'upcoming', 'Upcoming', { key: 'n' }),
  later('DeadLetters', 'dead-letters', 'Dead letters', { key: 'd', needs: ['deadLetters'] }),
  later('Publish', 'publish', 'Publish', { changes: true, key: 'p' }),
  later('Schedules', 'schedules', 'Schedules', { key: 's', needs: ['failingSchedules'] }),
  later('UrlGroups', 'url-groups', 'URL groups', { key: 'u' }),
  later('Queues', 'queues', 'Queues', { key: 'q', needs: ['pausedQueues'] }),
  later('FlowControl', 'flow-control', 'Flow control', { key: 'f', needs: ['pausedKeys', 'hostsDown'] }),
  later('Runs', 'runs', 'Workflow runs', { key: 'w', needs: ['failedRuns', 'hangingRuns'] }),
  later('Alarms', 'alarms', 'Alarms', { key: 'l' }),
  later('Keys', 'keys', 'Keys', { key: 'k' }),
  later('Audit', 'audit', 'Audit', { key: 't' }),
  later('Accounts', 'accounts', 'Accounts', { api: 'management', key: 'a' }),
];

/** The screens that this page serves and the token may use. @param access undefined until the rights are known */
export const screensFor = (access: 'read' | 'write' | undefined): readonly Screen[] =>
  screens.filter(({ api, changes }) => apis.includes(api) && !(changes === true && access === 'read'));
