/** The settings of a run's messages: those of its start, or of each message. */
import type { FlowControl } from '../../value/flowControl.ts';
import type { DeliverySettings } from '../../message/message.ts';
import type { Redaction } from '../../value/redaction.ts';
import type { Features } from './features.ts';
import type { WorkflowMessage } from './workflowMessage.ts';

/** The settings that a start gives for all of its run. */
export interface RunSettings extends Pick<DeliverySettings, 'maxRetries' | 'retryDelay' | 'labels'> {
  readonly flowControl?: FlowControl | undefined;
  readonly redaction?: Redaction | undefined;
}

/**
 * Picks the settings of an entry of a run's list that are not those of its run.
 *
 * @param features those of the run's start
 * @param options those of the submission
 * @returns undefined where the settings of the run hold for all
 */
export function ownSettings(features: Features, options: RunSettings): RunSettings | undefined {
  if (holdForAll(features)) return undefined;
  const { maxRetries, retryDelay, labels, flowControl, redaction } = options;
  return { maxRetries, retryDelay, labels, flowControl, redaction };
}

const holdForAll = (features: Features): boolean => features.has('WF_TriggerOnConfig');

/**
 * Picks the settings that a message of a run has. Clients since `WF_TriggerOnConfig` give none but at the start, and what the
 * parser of options reads of their other messages are defaults. A call is the user's own message to somebody else.
 *
 * @param features those of the run's start
 */
export const settingsFor = <T extends RunSettings>(
  kind: WorkflowMessage['kind'],
  features: Features,
  ofRun: RunSettings,
  own: T,
): T => {
  if (kind === 'call' || kind === 'failureRequest' || !holdForAll(features)) return own;
  const { maxRetries, retryDelay, labels, flowControl, redaction } = ofRun;
  return { ...own, maxRetries, retryDelay, labels, flowControl, redaction };
};
