/** The checks of a deployment use these things in one region. */
import type { StackResource } from '../../operate/stackResources.ts';
import type { Settings } from '../../lib/settings.ts';
import type { Clients } from '../clients.ts';
import type { Client, Send } from './api.ts';
import type { Answers, Inbox } from './inbox.ts';
import type { Timeout } from './wait.ts';

export interface After {
  readonly region: string;
  readonly isEmulator: boolean;
  readonly settings: Settings;
  readonly timeout: Timeout;
  readonly clients: Clients;
  /** Unix milliseconds at which the run began. */
  readonly startedAt: number;
  readonly api: {
    /** The base URL. */
    readonly url: string;
    /** Without credentials. */
    readonly send: Send;
    /** With the token of the run's account. */
    readonly client: Client;
  };
  /** The publish URL, with the token; undefined where there is none. */
  readonly publishUrl: Client | undefined;
  /** Undefined in all regions but the first. */
  readonly management: { readonly send: Send } | undefined;
  /** The number of the AWS account. */
  readonly awsAccount: string;
  readonly account: { readonly id: string; readonly token: string };
  /** Other regions' APIs, without credentials. */
  readonly others: readonly { readonly region: string; readonly send: Send }[];
  /** Opens an inbox of the receiver in this region. */
  readonly inbox: (answers: Answers) => Inbox;
  /** The names of the region's stacks. */
  readonly stacks: readonly string[];
  /** The resources of the region's stacks. */
  readonly resources: readonly StackResource[];
}
