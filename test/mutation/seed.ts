/** Has tests with generated inputs take the same in each run, so that a mutation run counts the same twice, and none look for simpler ones. */
import { configureGlobal, readConfigureGlobal } from 'fast-check';

configureGlobal({ ...readConfigureGlobal(), seed: 1, endOnFailure: true });
