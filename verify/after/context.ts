/** Everything that the checks of a deployment use in one region. */
import type { StackResource } from '../../operate/stackResources.ts';
import type { Settings } from '../../lib/settings.ts';
import type { Clients } from '../clients.ts';
import type { StackTemplate } from '../deployment.ts';
import type { Client, Send } from './api.ts';
import type { Answers, Inbox, ReceiverHost } from './receiver/inbox.ts';
import type { Timeout } from '../wait.ts';

export interface After {
  readonly region: string;
  readonly isEmulator: boolean;
  readonly settings: Settings;
  readonly timeout: Timeout;
  readonly clients: Clients;
  /** When the run began. */
  readonly startedAt: number;
  readonly api: {
    readonly url: string;
    /** Without credentials. */
    readonly send: Send;
    /** With the token of the run's account. */
    readonly client: Client;
  };
  /** Sends to another base URL, without credentials. */
  readonly sendTo: (url: string) => Send;
  /** The publish URL, with the token, if there is one. */
  readonly publishUrl: Client | undefined;
  /** Undefined in other regions than the first. */
  readonly management:
    | {
        /** Without credentials. */
        readonly send: Send;
        /** With the operator's login. */
        readonly client: Client;
      }
    | undefined;
  readonly awsAccount: string;
  readonly account: { readonly id: string; readonly token: string };
  /** Other regions' APIs, without credentials. */
  readonly others: readonly { readonly region: string; readonly send: Send }[];
  readonly inbox: (answers: Answers, host?: ReceiverHost) => Inbox;
  readonly stacks: readonly string[];
  readonly templates: readonly StackTemplate[];
  readonly resources: readonly StackResource[];
}
