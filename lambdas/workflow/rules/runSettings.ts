import { inherited, type RunSettings } from '../../options/options.ts';
import type { Features } from './features.ts';

/**
 * The settings that an entry has for itself.
 *
 * @param features of the run's start
 * @param options of the submission
 * @returns undefined if the run's settings apply to all entries
 */
export const ownSettings = (features: Features, options: RunSettings): RunSettings | undefined =>
  holdForAll(features) ? undefined : inherited(options);

const holdForAll = (features: Features): boolean => features.has('WF_TriggerOnConfig');

/**
 * The settings of the message that delivers a call's answer. Clients with `WF_TriggerOnConfig` send settings
 * only with the start. The call always has its own settings, because it is the user's message to a third
 * party.
 *
 * @param features of the run's start
 */
export const settingsOfAnswer = <T extends RunSettings>(features: Features, ofRun: RunSettings, own: T): T =>
  holdForAll(features) ? { ...own, ...inherited(ofRun) } : own;
